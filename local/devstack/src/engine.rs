//! The embedded DynamoDB: `dynoxide` on a loopback port, in memory or in a file.

mod front;

use std::path::Path;

use anyhow::{Context, Result};
use dynoxide::Database;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::listen::{loopback, unguessable, url_of};
use crate::option_error::OptionError;
use crate::private_file;

/// The file within a data directory.
const DATABASE_FILE: &str = "table.sqlite";

/// A running engine. It stops when dropped.
pub(crate) struct Engine {
    url: String,
    own_url: String,
    database: Database,
    stop: [oneshot::Sender<()>; 2],
    front: JoinHandle<std::io::Result<()>>,
    serving: JoinHandle<Result<(), String>>,
}

impl Engine {
    /// Starts an engine over the file in `data`, or over memory.
    pub(crate) async fn start(port: u16, data: Option<&Path>) -> Result<Self> {
        let database = open(data)?;
        let (listener, own) = (loopback(port, "dynamodb_port").await?, unguessable().await?);
        let (url, own_url) = (url_of(&listener)?, url_of(&own)?);

        let (stop_front, front_stopped) = oneshot::channel();
        let (stop, stopped) = oneshot::channel();
        // A dropped sender resolves the receiver just as a message does.
        let serving = tokio::spawn(dynoxide::server::serve_with_shutdown(own, database.clone(), async {
            _ = stopped.await;
        }));
        let front = front::serve(listener, &own_url, front_stopped)?;
        Ok(Self { url, own_url, database, stop: [stop_front, stop], front, serving })
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

    /// Lets running requests finish, then closes the database.
    pub(crate) async fn shutdown(self) {
        let [stop_front, stop] = self.stop;
        _ = stop_front.send(());
        _ = self.front.await;
        _ = stop.send(());
        _ = self.serving.await;
    }
}

fn open(data: Option<&Path>) -> Result<Database> {
    let Some(directory) = data else { return Database::memory().context("cannot open a database in memory") };
    let unusable = |error| OptionError::unusable_directory(directory, error);
    private_file::create_directory(directory).map_err(unusable)?;

    let file = directory.join(DATABASE_FILE);
    let path = file.to_str().with_context(|| format!("{} is not valid UTF-8", file.display()))?;
    // Set before the engine opens the file: SQLite gives the files that it creates beside it the same permissions.
    private_file::make_private(&file).map_err(unusable)?;
    Database::new(path).map_err(|error| {
        let message = format!("cannot open {path}: delete it or choose another directory");
        OptionError::new("data", message).caused_by(error).into()
    })
}
