//! The images of products: objects in S3, which the item of the product names.
//!
//! An object is written once, by somebody who has the signed URL of its upload, and is never replaced. Its key contains
//! the product's id and an id that nobody can guess. A product may name an object or not. An object that no product names
//! is garbage, whether its upload was never confirmed, the image was removed, or a request stopped halfway.
//!
//! The id of an image contains the time at which it was made, so what may happen to the image follows from its age:
//!
//! | age | |
//! |---|---|
//! | up to 15 minutes | its upload may begin |
//! | up to 1 hour | a product may be made to name it |
//! | from 2 hours on | whoever removes it from its product deletes the object, too |
//! | from 1 day on | an object that its product does not name is deleted |
//!
//! **Invariant: an object is only deleted when no request can make its product name it any more.** No request lasts an
//! hour, so no request sees both an image that may be added and one that may be deleted.

#![warn(missing_docs)]

mod garbage;
mod key;
mod store;
mod uploads;
mod urls;

pub use garbage::{Garbage, Page};
pub use key::{may_be_added, may_be_deleted};
pub use store::Store;
pub use uploads::{NewImage, UPLOAD_SECONDS, Uploads};
pub use urls::Urls;

use lambda::Grant;

/// The most images of a product.
pub const MOST: usize = 10;

/// The most bytes of an image.
pub const MOST_BYTES: u32 = 10 * 1024 * 1024;

/// The variable with the bucket's name.
const BUCKET: &str = "IMAGES_BUCKET";

const OBJECTS: &str = "ImagesBucket/images/*";

/// The permission to sign uploads: a signed URL is worth what its signer may do.
pub const UPLOAD: Grant = Grant::new(&["s3:PutObject"], OBJECTS);

/// The permissions to see whether an object is there. Only those who may list a bucket are told by S3 that an object is
/// absent. Others get the 403 of a missing permission, and could not tell the two apart.
pub const LOOK: [Grant; 2] = [Grant::new(&["s3:GetObject"], OBJECTS), LIST];

/// The permission to delete objects. The bucket keeps deleted ones for a while.
pub const DELETE: Grant = Grant::new(&["s3:DeleteObject"], OBJECTS);

/// The permission to list objects.
pub const LIST: Grant = Grant::new(&["s3:ListBucket"], "ImagesBucket");
