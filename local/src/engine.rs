//! The embedded DynamoDB: `dynoxide` on a loopback port, in memory or in a file.

use std::path::Path;

use anyhow::{Context, Result, anyhow};
use dynoxide::Database;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::listen::{loopback, url_of};

/// The file within a data directory.
const DATABASE_FILE: &str = "till.sqlite";

/// A running engine. It stops when dropped.
pub(crate) struct Engine {
    url: String,
    database: Database,
    stop: oneshot::Sender<()>,
    serving: JoinHandle<Result<(), String>>,
}

impl Engine {
    /// Starts an engine over the file in `data`, or over memory.
    pub(crate) async fn start(port: u16, data: Option<&Path>) -> Result<Self> {
        let database = open(data)?;
        let listener = loopback(port, "--dynamodb-port").await?;
        let url = url_of(&listener)?;

        let (stop, stopped) = oneshot::channel();
        // A dropped sender resolves the receiver just as a message does.
        let serving = tokio::spawn(dynoxide::server::serve_with_shutdown(listener, database.clone(), async {
            _ = stopped.await;
        }));
        Ok(Self { url, database, stop, serving })
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Lets running requests finish, then closes the database.
    pub(crate) async fn shutdown(self) {
        _ = self.stop.send(());
        _ = self.serving.await;
    }
}

fn open(data: Option<&Path>) -> Result<Database> {
    let Some(directory) = data else { return Database::memory().context("cannot open a database in memory") };
    let unusable = || format!("cannot use {}: choose a directory you may write to with --data", directory.display());
    std::fs::create_dir_all(directory).with_context(unusable)?;

    let file = directory.join(DATABASE_FILE);
    let path = file.to_str().with_context(|| format!("{} is not valid UTF-8", file.display()))?;
    Database::new(path)
        .map_err(|error| anyhow!(error))
        .with_context(|| format!("cannot open {path}: delete it or choose another directory with --data"))
}
