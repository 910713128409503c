//! The operations of the embedded S3: those below, over files. Every other operation is refused as not implemented.

use std::sync::Arc;

use anyhow::{Result, anyhow};
use axum::http::{Extensions, HeaderMap, Method, Uri};
use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use futures_util::TryStreamExt as _;
use s3s::auth::Credentials;
use s3s::checksum::ChecksumHasher;
use s3s::crypto::{Checksum as _, Crc32, Crc32c, Crc64Nvme, Md5, Sha1, Sha256};
use s3s::dto::{
    Checksum, DeleteObjectInput, DeleteObjectOutput, GetObjectInput, GetObjectOutput, HeadObjectInput,
    HeadObjectOutput, ListObjectsV2Input, ListObjectsV2Output, PutObjectInput, PutObjectOutput, StreamingBlob,
};
use s3s::{Body, S3, S3ErrorCode, S3Request, S3Response, S3Result, s3_error};
use s3s_fs::FileSystem;
use tokio::sync::RwLock;

use crate::bus::Targets;
use crate::iam::{Denial, Guard};
use crate::template::Bucket;

/// The largest object. It is in memory while it is written. S3 itself takes 5 GB in one request.
const MOST_BYTES: usize = 64 * 1024 * 1024;

/// The objects of all buckets. Clones share them.
#[derive(Clone)]
pub(crate) struct Store {
    /// `FileSystem` writes an object and its metadata one after the other, and looks for an object that must not exist
    /// before it writes it. So a write is alone.
    files: Arc<RwLock<FileSystem>>,
    buckets: Arc<[Bucket]>,
    guard: Arc<Guard>,
    targets: Arc<Targets>,
}

impl Store {
    pub(super) fn new(files: FileSystem, buckets: &[Bucket], guard: Arc<Guard>, targets: Arc<Targets>) -> Self {
        Self { files: Arc::new(RwLock::new(files)), buckets: buckets.into(), guard, targets }
    }

    /// Writes an object as Lambda does for this function, with the rights of its role. Lambda also needs the right to list
    /// the bucket.
    pub(crate) async fn keep(&self, function: &str, bucket: &str, key: &str, body: Vec<u8>) -> Result<()> {
        for (operation, key) in [("PutObject", Some(key)), ("ListObjectsV2", None)] {
            let checked = self.guard.check_s3(function, operation, bucket, key);
            checked.map_err(|Denial(message)| anyhow!("{message}"))?;
        }
        let input = PutObjectInput {
            bucket: bucket.to_owned(),
            key: key.to_owned(),
            body: Some(StreamingBlob::from(Body::from(body))),
            ..PutObjectInput::default()
        };
        let request = S3Request {
            input,
            method: Method::PUT,
            uri: Uri::default(),
            headers: HeaderMap::new(),
            extensions: Extensions::new(),
            credentials: None,
            region: None,
            service: None,
            trailing_headers: None,
        };
        self.put_object(request).await.map(drop).map_err(|error| anyhow!("{error}"))
    }

    /// The answer about an object. Only those who may list its bucket are told that it is absent, as at S3.
    fn tell<T>(&self, caller: Option<&Credentials>, bucket: &str, answer: S3Result<T>) -> S3Result<T> {
        if !answer.as_ref().is_err_and(|error| *error.code() == S3ErrorCode::NoSuchKey) {
            return answer;
        }
        let Some(caller) = caller else { return Err(s3_error!(AccessDenied, "a request needs a signature")) };
        let may_list = self.guard.check_s3(&caller.access_key, "ListObjectsV2", bucket, None);
        may_list.map_err(|Denial(message)| s3_error!(AccessDenied, "{message}")).and(answer)
    }
}

#[async_trait::async_trait]
impl S3 for Store {
    /// Writes an object whole or not at all: also if its sender goes away meanwhile. `FileSystem` alone would create a
    /// bucket that is missing, and replace an object before it compares the checksums of the new one.
    async fn put_object(&self, mut request: S3Request<PutObjectInput>) -> S3Result<S3Response<PutObjectOutput>> {
        let bucket = self.buckets.iter().find(|bucket| bucket.name == request.input.bucket);
        let Some(bucket) = bucket else {
            return Err(s3_error!(NoSuchBucket, "there is no bucket {}", request.input.bucket));
        };
        let key = request.input.key.clone();
        let body = whole(request.input.body.take()).await?;
        take_trailers(&mut request)?;
        verify(&request.input, &body)?;
        let size = body.len();
        request.input.body = Some(StreamingBlob::from(Body::from(body)));
        let files = Arc::clone(&self.files);
        let write = tokio::spawn(async move { files.write().await.put_object(request).await });
        let answer = write.await.map_err(|error| s3_error!(error, InternalError))?;
        if bucket.tells_of_objects && answer.is_ok() {
            self.targets.tell_of_object(bucket, &key, size).await;
        }
        answer
    }

    async fn get_object(&self, request: S3Request<GetObjectInput>) -> S3Result<S3Response<GetObjectOutput>> {
        let (caller, bucket) = (request.credentials.clone(), request.input.bucket.clone());
        let answer = self.files.read().await.get_object(request).await;
        self.tell(caller.as_ref(), &bucket, answer)
    }

    async fn head_object(&self, request: S3Request<HeadObjectInput>) -> S3Result<S3Response<HeadObjectOutput>> {
        let (caller, bucket) = (request.credentials.clone(), request.input.bucket.clone());
        let answer = self.files.read().await.head_object(request).await;
        self.tell(caller.as_ref(), &bucket, answer)
    }

    async fn delete_object(&self, request: S3Request<DeleteObjectInput>) -> S3Result<S3Response<DeleteObjectOutput>> {
        self.files.write().await.delete_object(request).await
    }

    async fn list_objects_v2(
        &self,
        request: S3Request<ListObjectsV2Input>,
    ) -> S3Result<S3Response<ListObjectsV2Output>> {
        self.files.read().await.list_objects_v2(request).await
    }
}

/// Reads a body. A body that is not as its signature says ends with an error.
async fn whole(body: Option<StreamingBlob>) -> S3Result<Vec<u8>> {
    let Some(mut body) = body else { return Ok(Vec::new()) };
    let mut whole = Vec::new();
    while let Some(bytes) = body.try_next().await.map_err(|error| s3_error!(IncompleteBody, "{error}"))? {
        if whole.len() + bytes.len() > MOST_BYTES {
            return Err(s3_error!(EntityTooLarge, "the laptop's S3 takes at most {MOST_BYTES} bytes in one request"));
        }
        whole.extend_from_slice(&bytes);
    }
    Ok(whole)
}

/// Takes the checksums that came after the body.
fn take_trailers(request: &mut S3Request<PutObjectInput>) -> S3Result<()> {
    let Some(trailers) = request.trailing_headers.take().and_then(|trailers| trailers.take()) else { return Ok(()) };
    let input = &mut request.input;
    for (name, checksum) in [
        ("x-amz-checksum-crc32", &mut input.checksum_crc32),
        ("x-amz-checksum-crc32c", &mut input.checksum_crc32c),
        ("x-amz-checksum-crc64nvme", &mut input.checksum_crc64nvme),
        ("x-amz-checksum-sha1", &mut input.checksum_sha1),
        ("x-amz-checksum-sha256", &mut input.checksum_sha256),
    ] {
        if let Some(value) = trailers.get(name) {
            *checksum = Some(value.to_str().map_err(|error| s3_error!(error, InvalidArgument))?.to_owned());
        }
    }
    Ok(())
}

/// Compares a body with all checksums that the request has.
fn verify(input: &PutObjectInput, body: &[u8]) -> S3Result<()> {
    if let Some(expected) = &input.content_md5 {
        let found = BASE64_STANDARD.encode(Md5::checksum(body));
        if found != *expected {
            return Err(s3_error!(BadDigest, "Content-MD5 is {expected}, and the object's is {found}"));
        }
    }
    let mut hasher = ChecksumHasher {
        crc32: input.checksum_crc32.as_ref().map(|_| Crc32::default()),
        crc32c: input.checksum_crc32c.as_ref().map(|_| Crc32c::default()),
        crc64nvme: input.checksum_crc64nvme.as_ref().map(|_| Crc64Nvme::default()),
        sha1: input.checksum_sha1.as_ref().map(|_| Sha1::default()),
        sha256: input.checksum_sha256.as_ref().map(|_| Sha256::default()),
    };
    hasher.update(body);
    let found = hasher.finalize();
    let expected = Checksum {
        checksum_crc32: input.checksum_crc32.clone(),
        checksum_crc32c: input.checksum_crc32c.clone(),
        checksum_crc64nvme: input.checksum_crc64nvme.clone(),
        checksum_sha1: input.checksum_sha1.clone(),
        checksum_sha256: input.checksum_sha256.clone(),
        ..found.clone()
    };
    if expected == found { Ok(()) } else { Err(s3_error!(BadDigest, "the object has another checksum")) }
}
