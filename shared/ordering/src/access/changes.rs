//! What each change of an order asks of the table, in any state: written by `cargo renew`.

use key_schema::access::Access;
use key_schema::entity::{Discount, GiftCard, GiftCardEntry, Invoice, Order, PaymentDue, Return, Shipment, Stock};
use key_schema::layout::ORDER_BY_ID;

changes! {
    Advance = ADVANCE {
        transact_get(Invoice Order) update(Order);
        put(PaymentDue) update(Invoice Shipment)
    }
    Allow = ALLOW {
        transact_get(Invoice Order);
        delete(PaymentDue) put(PaymentDue) update(GiftCard GiftCardEntry Invoice Order)
    }
    Cancel = CANCEL {
        transact_get(Invoice Order);
        delete(PaymentDue) put(PaymentDue) update(Discount GiftCard GiftCardEntry Invoice Order Stock)
    }
    CancelUnits = CANCEL_UNITS {
        transact_get(Invoice Order);
        delete(PaymentDue) put(PaymentDue) update(Discount GiftCard GiftCardEntry Invoice Order Stock)
    }
    Capture = CAPTURE {
        transact_get(Invoice Order) update(Invoice);
        delete(PaymentDue) put(PaymentDue) update(Discount Order Stock)
    }
    ConfirmRefund = CONFIRM_REFUND {
        transact_get(Invoice Order);
        delete(PaymentDue) put(PaymentDue) update(Invoice)
    }
    DeliverShipment = DELIVER_SHIPMENT {
        transact_get(Invoice Order);
        update(Order Shipment)
    }
    Expire = EXPIRE {
       ;
        put(PaymentDue) update(Discount GiftCard GiftCardEntry Invoice Order Stock)
    }
    ExpireLapsed = EXPIRE_LAPSED {
       ;
        delete(PaymentDue) put(PaymentDue) update(Discount GiftCard GiftCardEntry Invoice Order Stock)
    }
    FailCommand = FAIL_COMMAND {
        transact_get(Invoice Order);
        put(PaymentDue) update(Invoice)
    }
    ObservePayment = OBSERVE_PAYMENT {
        transact_get(Invoice Order) update(Invoice Order);
        delete(PaymentDue) put(PaymentDue) update(Discount Stock)
    }
    ReceiveReturn = RECEIVE_RETURN {
        transact_get(Invoice Order);
        delete(PaymentDue) put(PaymentDue) update(GiftCard GiftCardEntry Invoice Order Return Stock)
    }
    RequestCapture = REQUEST_CAPTURE {
        transact_get(Invoice Order);
        put(PaymentDue) update(Invoice)
    }
    RequestReturn = REQUEST_RETURN {
        transact_get(Invoice Order);
        put(Return) update(Order)
    }
    ShipItems = SHIP_ITEMS {
        transact_get(Invoice Order);
        put(PaymentDue Shipment) update(Invoice Order)
    }
    StartPayment = START_PAYMENT {
        transact_get(Invoice Order) update(Invoice);
        put(PaymentDue)
    }
    WriteOff = WRITE_OFF {
        transact_get(Invoice Order);
        delete(PaymentDue) put(PaymentDue) update(Invoice)
    }
}
