//! The embedded DynamoDB: `dynoxide` on a loopback port, in memory or in a file.

mod describe;
mod front;
#[cfg(test)]
mod tests;

use std::path::Path;

use anyhow::{Context, Result};
use dynoxide::Database;
use rusqlite::Connection;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use uuid::Uuid;

use crate::listen::{loopback, unguessable, url_of};
use crate::option_error::OptionError;
use crate::private_file;

/// The file within a data directory.
const DATABASE_FILE: &str = "table.sqlite";

/// The engine asks for the highest sequence number of a table before each record that it writes, and its readers ask for
/// the records after theirs. Without this index each of these questions reads every record, and the n-th write takes a
/// time in proportion to n.
const STREAM_INDEX: &str = "CREATE INDEX IF NOT EXISTS devstack_stream_records \
    ON _stream_records (table_name, CAST(sequence_number AS INTEGER), shard_id)";

/// The index of a table in the sequence of segments, which covers the number and the size of all items. Without it each page
/// of a segment reads and sorts the whole table.
fn segment_index(table: &str) -> String {
    format!(
        "CREATE INDEX IF NOT EXISTS \"devstack_segments::{table}\" \
         ON \"{table}\" (hash_prefix, pk, sk, item_size)"
    )
}

/// A running engine. It stops when dropped.
pub(crate) struct Engine {
    url: String,
    own_url: String,
    database: Database,
    /// The name of the database for `SQLite`.
    name: String,
    stop: [oneshot::Sender<()>; 2],
    front: JoinHandle<std::io::Result<()>>,
    serving: JoinHandle<Result<(), String>>,
}

impl Engine {
    /// Starts an engine over the file in `data`, or over memory.
    pub(crate) async fn start(port: u16, data: Option<&Path>) -> Result<Self> {
        let (name, database) = open(data)?;
        let (listener, own) = (loopback(port, "dynamodb_port").await?, unguessable().await?);
        let (url, own_url) = (url_of(&listener)?, url_of(&own)?);

        let (stop_front, front_stopped) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        // A dropped sender resolves the receiver just as a message does.
        let serving = tokio::spawn(dynoxide::server::serve_with_shutdown(own, database.clone(), async {
            _ = stopped.await;
        }));
        let front = front::serve(listener, &own_url, name.clone(), front_stopped)?;
        Ok(Self { url, own_url, database, name, stop: [stop_front, stop], front, serving })
    }

    /// The base URL for programs outside the stack.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// The base URL of the engine itself, for the stack alone. It is not guarded against web pages; they only cannot
    /// guess its address.
    pub(crate) fn own_url(&self) -> &str {
        &self.own_url
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Adds the indexes that new tables lack. Nobody may use the database meanwhile: in memory, a change of the schema
    /// fails other statements.
    pub(crate) fn add_indexes(&self) -> Result<()> {
        add_indexes(&self.name)
    }

    /// Lets running requests finish, then closes the database.
    pub(crate) async fn shutdown(self) {
        let [stop_front, stop] = self.stop;
        _ = stop_front.send(());
        _ = self.front.await;
        _ = stop.send(());
        _ = self.serving.await;
    }
}

/// Opens the database of this directory. Returns its name for `SQLite`, too.
fn open(data: Option<&Path>) -> Result<(String, Database)> {
    let Some(directory) = data else {
        // Two connections reach a database in memory only by its name.
        let name = format!("file:{}?mode=memory&cache=shared", Uuid::new_v4());
        let database = open_at(&name).context("cannot open a database in memory")?;
        return Ok((name, database));
    };
    let unusable = |error| OptionError::unusable_directory(directory, error);
    private_file::create_directory(directory).map_err(unusable)?;

    let file = directory.join(DATABASE_FILE);
    let path = file.to_str().with_context(|| format!("{} is not valid UTF-8", file.display()))?;
    // The engine would take it for a new database.
    if file.metadata().is_ok_and(|file| file.len() == 0) {
        let message = format!("{path} is empty: restore a copy, delete it to start anew, or choose another directory");
        return Err(OptionError::new("data", message).into());
    }
    // Set before the engine opens the file: SQLite gives the files that it creates beside it the same permissions.
    private_file::make_private(&file).map_err(unusable)?;
    let database = open_at(path).map_err(|error| {
        let message = format!("cannot open {path}: restore a copy, delete it, or choose another directory");
        OptionError::new("data", message).caused_by(error)
    })?;
    Ok((path.to_owned(), database))
}

fn open_at(name: &str) -> Result<Database> {
    let database = Database::new(name)?;
    add_indexes(name)?;
    Ok(database)
}

/// Adds the indexes that the engine lacks, by a connection of its own, because the engine keeps its own to itself.
fn add_indexes(name: &str) -> Result<()> {
    let connection = Connection::open(name)?;
    connection.execute_batch(STREAM_INDEX)?;
    let mut tables = connection.prepare("SELECT table_name FROM _tables")?;
    let tables = tables.query_map([], |row| row.get(0))?.collect::<Result<Vec<String>, _>>()?;
    tables.iter().try_for_each(|table| connection.execute_batch(&segment_index(table)))?;
    Ok(())
}
