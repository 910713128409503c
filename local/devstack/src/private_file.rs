//! Files that no other user of this machine may read: users' data, messages, the tokens' secret.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Result;
use std::path::Path;

/// Creates the directory, unless it exists. An existing one keeps its permissions.
pub(crate) fn create_directory(path: &Path) -> Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Creates the directory, unless it exists, and locks it for this process. The lock ends when the returned file is
/// dropped, however the process ends.
pub(crate) fn take_directory(path: &Path) -> Result<File> {
    create_directory(path)?;
    let lock = options().append(true).create(true).open(path.join("lock"))?;
    lock.try_lock()?;
    Ok(lock)
}

/// Creates an empty file, unless it exists, and makes it unreadable for other users.
pub(crate) fn make_private(path: &Path) -> Result<()> {
    keep_private(&options().append(true).create(true).open(path)?)
}

/// Creates a file for writing, which must not exist yet.
pub(crate) fn create_new(path: &Path) -> Result<File> {
    options().write(true).create_new(true).open(path)
}

/// Creates or truncates a file for writing.
pub(crate) fn create(path: &Path) -> Result<File> {
    let file = options().write(true).create(true).truncate(true).open(path)?;
    keep_private(&file)?;
    Ok(file)
}

fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Corrects the permissions of a file that existed before.
#[cfg(unix)]
fn keep_private(file: &File) -> Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))
}

/// Does nothing: on other systems a file has the permissions of its directory.
#[cfg(not(unix))]
fn keep_private(_: &File) -> Result<()> {
    Ok(())
}
