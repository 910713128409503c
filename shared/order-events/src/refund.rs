//! The events of refunds.

use key_schema::value::Money;

event! {
    /// A refund is due: the bank captured more of a card payment than the shop wants, because the order is cancelled,
    /// units were cancelled or returned, an amount is given back, or the order was paid twice. It stays due until
    /// `RefundMade`. The amounts of all `RefundDue` of an order are what was refunded and what is still due. (If units
    /// are cancelled while the provider captures the payment, `PaymentCaptured` tells of all that came, and there is no
    /// `RefundDue` for these units.)
    RefundDue of invoice {
        /// The amount that became due by this change.
        pub amount: Money,
        /// The bank's reference for the payment, if it is known.
        #[schema(nullable = false)]
        pub reference: Option<String>,
        /// Whether the bank captured this amount when the shop did not want it any more, after the order was cancelled
        /// or a second time. Then there was no `PaymentCaptured` event.
        pub captured_after_cancellation: bool,
    }

    /// A refund was made, of the whole payment or of a part of it. If Till sees a late capture together with its
    /// refund, there was no `RefundDue`.
    RefundMade of invoice {
        /// The amount refunded.
        pub amount: Money,
        /// The bank's reference for the refund, or the provider's for the payment.
        pub reference: String,
    }

    /// A refund failed at the payment provider after it was made: mostly because the card's account is closed. The shop
    /// has the money again, and staff refund it by another way. `RefundDue` tells when the amount is due again: at
    /// once, or at the end of a dispute.
    RefundFailed of invoice {
        /// The amount that came back.
        pub amount: Money,
        /// The provider's reference for the payment.
        pub reference: String,
    }
}
