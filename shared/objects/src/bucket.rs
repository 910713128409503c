//! Requests to one bucket.

use std::time::Duration;

use lambda::{Answered, Environment, Failure as _, Https, Misconfigured, Remedy, longest_pause};
use serde::Deserialize;

use crate::Error;
use crate::signer::{Signer, encode, path};

/// The longest wait for one complete answer. Objects have a few megabytes.
const TIMEOUT: Duration = Duration::from_mins(1);

/// The number of attempts of one request. All requests here may be repeated.
const MOST_ATTEMPTS: u32 = 5;

/// A bucket.
#[derive(Clone, Debug)]
pub struct Bucket {
    name: String,
    signer: Signer,
    https: Https,
}

impl Bucket {
    /// The bucket with this name, in the environment's region.
    ///
    /// # Errors
    /// Region or credentials are missing.
    pub fn open(environment: &Environment, name: &str) -> Result<Self, Misconfigured> {
        let signer = Signer::new(environment, name)?;
        let https = environment.https(signer.base(), TIMEOUT)?;
        Ok(Self { name: name.to_owned(), signer, https })
    }

    /// The bucket's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Writes an object, whatever there is under its key.
    pub async fn put(&self, key: &str, content_type: &str, body: &[u8]) -> Result<(), Error> {
        let headers = [("content-type".to_owned(), content_type.to_owned())];
        self.request("PUT", &path(key), &headers, body).await.map(drop)
    }

    /// The content of an object; `None` if there is none.
    pub async fn get(&self, key: &str) -> Result<Option<Vec<u8>>, Error> {
        match self.request("GET", &path(key), &[], &[]).await {
            Ok(answer) => Ok(Some(answer.body)),
            Err(error) if error.is("NoSuchKey") => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Whether there is an object.
    pub async fn has(&self, key: &str) -> Result<bool, Error> {
        match self.request("HEAD", &path(key), &[], &[]).await {
            Ok(_) => Ok(true),
            // The answer to HEAD has no word for the error.
            Err(Error::Refused { status: 404, .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Deletes an object, if there is one.
    pub async fn delete(&self, key: &str) -> Result<(), Error> {
        self.request("DELETE", &path(key), &[], &[]).await.map(drop)
    }

    /// The keys that begin with this prefix, sorted.
    pub async fn list(&self, prefix: &str) -> Result<Vec<String>, Error> {
        let (mut keys, mut token) = (Vec::new(), None);
        loop {
            let (page, next) = self.page(prefix, token).await?;
            keys.extend(page);
            token = next;
            if token.is_none() {
                return Ok(keys);
            }
        }
    }

    /// A page of the keys that begin with this prefix, sorted: at most 1000. Also the token of the next page, if there is
    /// one.
    pub async fn page(&self, prefix: &str, token: Option<String>) -> Result<(Vec<String>, Option<String>), Error> {
        let mut query = vec![("list-type".to_owned(), "2".to_owned()), ("prefix".to_owned(), prefix.to_owned())];
        query.extend(token.map(|token| ("continuation-token".to_owned(), token)));
        // The signature needs the parameters in order.
        query.sort();
        let answer = self.request("GET", &format!("/?{}", encode(&query)), &[], &[]).await?;
        let text = String::from_utf8_lossy(&answer.body);
        let page: Listed = quick_xml::de::from_str(&text)
            .map_err(|error| Error::Invalid(format!("the list of {}/{prefix} cannot be read: {error}", self.name)))?;
        Ok((page.contents.into_iter().map(|listed| listed.key).collect(), page.next_continuation_token))
    }

    /// Sends a request until it is answered, a few times at most.
    async fn request(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Answered, Error> {
        let mut attempt = 1;
        loop {
            match self.attempt(method, path, headers, body).await {
                Err(error) if error.remedy() == Remedy::Retry && attempt < MOST_ATTEMPTS => {
                    tokio::time::sleep(longest_pause(attempt)).await;
                    attempt += 1;
                }
                outcome => return outcome,
            }
        }
    }

    async fn attempt(
        &self,
        method: &str,
        path: &str,
        headers: &[(String, String)],
        body: &[u8],
    ) -> Result<Answered, Error> {
        // Each attempt has a time and a signature of its own.
        let headers = self.signer.headers(method, path, headers, body)?;
        let request = || format!("{method} {}{path}", self.name);
        let answer = self.https.exchange(method, path, headers, body.to_vec()).await;
        let answer = answer.map_err(|source| Error::Unanswered { request: request(), source })?;
        if answer.status < 300 {
            return Ok(answer);
        }
        // The answer to HEAD has no body.
        let Refusal { code, message } =
            quick_xml::de::from_str(&String::from_utf8_lossy(&answer.body)).unwrap_or_default();
        Err(Error::Refused { request: request(), status: answer.status, code, message })
    }
}

/// The reason why S3 refuses a request.
#[derive(Default, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
struct Refusal {
    code: String,
    message: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Listed {
    #[serde(default)]
    contents: Vec<ListedObject>,
    next_continuation_token: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct ListedObject {
    key: String,
}
