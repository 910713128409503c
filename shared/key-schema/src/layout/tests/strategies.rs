//! Strategies for the values of which entities are made.

use std::ops::Range;

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::entity::{
    Availability, CardPayment, CartLine, Dispute, Held, Offer, OrderStatus, Payment, PaymentStatus, Progress,
    ProviderPayment, Sums, Transfer,
};
use crate::value::{Currency, EmailAddress, Money, OrderId};

/// The range of a `Timestamp`, in milliseconds since 1970.
pub(super) const TIMES: Range<i64> = -62_167_219_200_000..253_402_207_200_000;

/// Any moment, in milliseconds since 1970. Often one of a few adjacent ones, so that equal and adjacent moments occur.
pub(super) fn any_time() -> impl Strategy<Value = i64> {
    prop_oneof![1_795_253_400_000..1_795_253_400_004_i64, TIMES, select(vec![TIMES.start, TIMES.end - 1])]
}

/// Ids that are often equal, often look like other parts of keys, and sometimes have the greatest length.
pub(super) fn any_id<T: std::str::FromStr<Err: std::fmt::Debug> + std::fmt::Debug>() -> impl Strategy<Value = T> {
    let confusing =
        select(vec!["stats", "stock", "flag", "flagged", "cart", "o", "p", "i", "c", "-", "_", "PENDING", "0"]);
    prop_oneof!["[ab]{1,2}", confusing.prop_map(str::to_owned), "[A-Za-z0-9_-]{1,64}", "[A-Za-z0-9_-]{64}"]
        .prop_map(|text| text.parse().expect("an identifier"))
}

/// Addresses of up to 254 bytes.
pub(super) fn any_email() -> impl Strategy<Value = EmailAddress> {
    let longest = ("[a-z]{64}", "[a-z]{63}\\.[a-z]{63}\\.[a-z]{61}").prop_map(|(name, host)| format!("{name}@{host}"));
    prop_oneof!["[aAbB]{1,2}@[ab]\\.de", "[a-zA-Z0-9~]{1,16}@[a-z]{1,8}\\.[a-z]{2,3}", longest]
        .prop_map(|text| text.parse().expect("an address"))
}

pub(super) fn any_money() -> impl Strategy<Value = Money> {
    (0..1_i64 << 53, any_currency()).prop_map(|(amount, currency)| Money::new(amount, currency).expect("an amount"))
}

pub(super) fn any_payment() -> impl Strategy<Value = Payment> {
    let parts = (
        option::of(any_id()),
        any_money(),
        any_payment_status(),
        option::of("(?s).{0,12}"),
        option::of(any_provider_payment()),
        any::<bool>(),
    );
    parts.prop_map(|(code, amount, status, reference, provider, expired)| {
        let credited = i64::from(expired);
        if let Some(code) = code {
            Payment::GiftCard { code, amount, status, credited }
        } else {
            let cancelled = status == PaymentStatus::Refunded;
            let transfer = reference.map(|reference| Transfer { reference, amount: amount.amount() });
            let refunds = transfer.iter().cloned().collect();
            let about = CardPayment::of(amount);
            let (written_off, written_off_disputed) = (credited, credited);
            Payment::Card(CardPayment {
                cancelled,
                expired,
                credited,
                written_off,
                written_off_disputed,
                provider,
                transfer,
                refunds,
                ..about
            })
        }
    })
}

/// A payment at the provider, with amounts that may contradict each other.
pub(crate) fn any_provider_payment() -> impl Strategy<Value = ProviderPayment> {
    let code = option::of("[a-z_]{1,8}");
    (any_id(), 1..4_u32, any::<bool>(), code, any_held()).prop_map(|(intent, attempt, asked, refused, held)| {
        let amount = Some(held.captured).filter(|_| asked);
        let refunding = held.refunded;
        let started = ProviderPayment::new(intent, attempt);
        ProviderPayment { amount, capture_requested: asked, refund: attempt, refunding, refused, held, ..started }
    })
}

pub(crate) fn any_held() -> impl Strategy<Value = Held> {
    use Progress::{Authorized, Captured, Declined, Ended, Released, Started};
    let dispute = option::of(select(vec![Dispute::Open, Dispute::Won, Dispute::Lost]));
    let amounts = [0..5_i64, 0..5_i64, 0..5_i64, 0..5_i64];
    (select(vec![Started, Declined, Authorized, Ended, Released, Captured]), amounts, dispute).prop_map(
        |(progress, [captured, refunded, failed, disputed], dispute)| Held {
            progress,
            captured,
            refunded,
            failed,
            disputed,
            dispute,
        },
    )
}

/// Order ids of at most 60 characters, so that an invoice's id can contain them. (Real order ids are UUIDs.)
pub(super) fn any_order_id() -> impl Strategy<Value = OrderId> {
    any_id::<OrderId>().prop_map(|id| id.as_str().chars().take(60).collect::<String>().parse().expect("an id"))
}

pub(super) fn any_payment_status() -> impl Strategy<Value = PaymentStatus> {
    select(vec![PaymentStatus::Authorized, PaymentStatus::Captured, PaymentStatus::Refunded])
}

pub(super) fn any_cart_line() -> impl Strategy<Value = CartLine> {
    (any_id(), 1..=10_000_i64, any_offer()).prop_map(|(product_id, quantity, when_added)| CartLine {
        product_id,
        quantity: quantity.try_into().expect("a quantity"),
        when_added,
    })
}

fn any_offer() -> impl Strategy<Value = Offer> {
    let availability = select(vec![Availability::InStock, Availability::FewLeft, Availability::SoldOut]);
    (any_money(), availability, any::<bool>()).prop_map(|(price, availability, listed)| Offer {
        price,
        availability,
        listed,
    })
}

/// The number of a shard, or a number of shards. Often one of a few, so that equal ones occur. There are at most 255 shards,
/// numbered from 0.
pub(super) fn any_shard() -> impl Strategy<Value = u8> {
    prop_oneof![0..3_u8, 0..u8::MAX]
}

/// Sums for a few keys. None of them is zero.
pub(super) fn any_sums<K: Ord + Copy + std::fmt::Debug>(
    of: impl Strategy<Value = K>,
) -> impl Strategy<Value = Sums<K>> {
    vec((of, any::<i32>().prop_map(i64::from)), 0..3).prop_map(|amounts| amounts.into_iter().collect())
}

pub(super) fn any_currency() -> impl Strategy<Value = Currency> {
    prop_oneof!["[A-B]{3}", "[A-Z]{3}"].prop_map(|text| Currency::try_from(text).expect("a currency"))
}

pub(super) fn any_status() -> impl Strategy<Value = OrderStatus> {
    use OrderStatus::{Cancelled, Delivered, Paid, Pending, Shipped};
    select(vec![Pending, Paid, Shipped, Delivered, Cancelled])
}
