//! The embedded S3: `s3s` speaks the protocol and checks every signature, `s3s-fs` keeps the objects as files.
//!
//! An object is a file with the object's name below a directory of its bucket, so that other programs can read it.
//! Signatures are checked, as S3 does: a body that is not the one that was signed is refused, and a presigned URL takes
//! exactly the upload that was signed. The secret of every access key is [`SECRET`]. A request without a signature may
//! read what the bucket's policy opens to everybody.

mod access;
mod store;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::error_handling::HandleError;
use axum::http::StatusCode;
use s3s::auth::{S3Auth, SecretKey};
use s3s::service::S3ServiceBuilder;
use s3s::{HttpError, S3Result};
use s3s_fs::FileSystem;
use tokio::task::JoinHandle;
use uuid::Uuid;

use self::access::Roles;
pub(crate) use self::store::Store;
use crate::browser_guard::BrowserGuard;
use crate::bus::Targets;
use crate::iam::Guard;
use crate::listen::{loopback, url_of};
use crate::option_error::OptionError;
use crate::private_file;
use crate::template::Bucket;

/// The secret of every access key.
pub(crate) const SECRET: &str = "local";

/// The directory of the buckets within a data directory.
const BUCKETS: &str = "buckets";

/// A running S3. It stops when dropped.
pub(crate) struct Buckets {
    url: String,
    serving: JoinHandle<std::io::Result<()>>,
    store: Store,
    /// A directory that ends with the stack.
    temporary: Option<PathBuf>,
}

impl Buckets {
    /// Serves these buckets. Their objects are in the data directory, or in a temporary one that ends with the stack.
    pub(crate) async fn start(
        port: u16,
        data: Option<&Path>,
        buckets: &[Bucket],
        guard: &Arc<Guard>,
        targets: Arc<Targets>,
    ) -> Result<Self> {
        let listener = loopback(port, "s3_port").await?;
        let (url, browsers) = (url_of(&listener)?, BrowserGuard::of(&listener)?);
        let temporary = match data {
            Some(_) => None,
            None => Some(std::env::temp_dir().join(format!("devstack-{}", Uuid::new_v4()))),
        };
        let root = data.map(|data| data.join(BUCKETS)).or(temporary.clone()).context("there is no directory")?;
        for bucket in buckets {
            let directory = root.join(&bucket.name);
            private_file::create_directory(&directory)
                .map_err(|error| OptionError::unusable_directory(&directory, error))?;
        }
        let files = FileSystem::new(&root).map_err(|error| anyhow::anyhow!("{error:?}")).context("no S3 can start")?;

        let stories = Arc::clone(&targets.stories);
        let store = Store::new(files, buckets, Arc::clone(guard), targets);
        let mut service = S3ServiceBuilder::new(store.clone());
        service.set_auth(AnyKey);
        service.set_access(Roles {
            guard: Arc::clone(guard),
            stories: Arc::clone(&stories),
            public: buckets.iter().flat_map(|bucket| bucket.public.clone()).collect(),
        });
        // The service answers errors of S3 itself. This one is a request that is not even HTTP's.
        let service = HandleError::new(service.build(), async |_: HttpError| StatusCode::BAD_REQUEST);
        let router = browsers.protect_objects(Router::new().fallback_service(service));
        let serving = tokio::spawn(axum::serve(listener, router).into_future());
        Ok(Self { url, serving, store, temporary })
    }

    /// The objects, for the stack itself.
    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    /// The base URL. Buckets are the first part of the path.
    pub(crate) fn url(&self) -> &str {
        &self.url
    }
}

impl Drop for Buckets {
    fn drop(&mut self) {
        self.serving.abort();
        if let Some(directory) = &self.temporary {
            // What is left is in the system's directory for such files.
            _ = fs::remove_dir_all(directory);
        }
    }
}

/// Every access key is known: a function's is its logical id.
struct AnyKey;

#[async_trait::async_trait]
impl S3Auth for AnyKey {
    async fn get_secret_key(&self, _access_key: &str) -> S3Result<SecretKey> {
        Ok(SecretKey::from(SECRET))
    }
}
