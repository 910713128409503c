//! The keys of objects, and the times of images.

use key_schema::value::{ImageId, ProductId, Timestamp};

/// The beginning of every key.
pub(crate) const PREFIX: &str = "images/";

/// A product may be made to name an image for so many seconds.
const ADDED_WITHIN: u32 = 60 * 60;

/// After so many seconds, no request can add an image that began when it still might.
const CERTAINLY_LATE: u32 = 2 * ADDED_WITHIN;

/// After so many seconds, no upload can still be on its way, and nobody is about to remove the object.
const GARBAGE_AFTER: u32 = 24 * 60 * 60;

pub(crate) fn of(product: &ProductId, image: &ImageId) -> String {
    format!("{PREFIX}{product}/{image}")
}

/// The product and the image in a key. `None` for an object that is not an image's.
pub(crate) fn parse(key: &str) -> Option<(ProductId, ImageId)> {
    let (product, image) = key.strip_prefix(PREFIX)?.split_once('/')?;
    Some((product.parse().ok()?, image.parse().ok()?))
}

/// Whether a product may be made to name this image now. An id that was not made here belongs to no image.
pub fn may_be_added(image: &ImageId, now: Timestamp) -> bool {
    image.made_at().is_some_and(|made| made > now.minus_seconds(ADDED_WITHIN))
}

/// Whether the object of an image may be deleted as soon as its product does not name it.
pub fn may_be_deleted(image: &ImageId, now: Timestamp) -> bool {
    is_older(image, now, CERTAINLY_LATE)
}

/// Whether an object that its product does not name is garbage.
pub(crate) fn may_be_garbage(image: &ImageId, now: Timestamp) -> bool {
    is_older(image, now, GARBAGE_AFTER)
}

fn is_older(image: &ImageId, now: Timestamp, seconds: u32) -> bool {
    image.made_at().is_some_and(|made| made < now.minus_seconds(seconds))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::expect_used, reason = "tests")]

    use super::*;

    #[test]
    fn a_key_leads_back_to_its_image_and_no_other_text_does() {
        let (product, image) = ("cup".parse().expect("an id"), ImageId::random(Timestamp::now()));
        assert_eq!(parse(&of(&product, &image)), Some((product, image)));
        for other in ["", "images/", "images/cup", "images/cup/", "images/cup/a/b", "other/cup/a", "images/c p/a"] {
            assert_eq!(parse(other), None, "{other}");
        }
    }

    /// No request lasts an hour. So an image that may be added at the beginning of a request is never deleted at its end.
    #[test]
    fn no_image_may_be_added_and_deleted_within_an_hour() {
        let now = Timestamp::now();
        for minutes in 0..=3 * 24 * 60 {
            let image = ImageId::random(now.minus_seconds(60 * minutes));
            let an_hour_ago = now.minus_seconds(60 * 60);
            let could_be_added = may_be_added(&image, an_hour_ago) || may_be_added(&image, now);
            assert!(!(could_be_added && may_be_deleted(&image, now)), "{minutes}");
            assert!(!(could_be_added && may_be_garbage(&image, now)), "{minutes}");
        }
        let [young, old] = [0, 2 * 24 * 60 * 60].map(|seconds| ImageId::random(now.minus_seconds(seconds)));
        assert!(may_be_added(&young, now) && may_be_deleted(&old, now) && may_be_garbage(&old, now));
    }

    #[test]
    fn an_id_that_was_not_made_here_is_neither_added_nor_deleted() {
        let now = Timestamp::now();
        for other in ["a", "cfd2ee81-ea09-51ba-9720-b8382bcdedb5"] {
            let image = other.parse().expect("an id");
            assert!(!may_be_added(&image, now) && !may_be_deleted(&image, now) && !may_be_garbage(&image, now));
        }
    }
}
