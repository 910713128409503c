//! The Lambda functions: one module for each, and the list of all of them.
//!
//! They are built into three programs: the functions that only read, those that write, and those that consume events.
//! Lambda passes the name of the function to the program (docs/decisions.md, "Functions are one crate and three
//! programs").
//!
//! A macro declares the modules, so `cargo fmt` does not find their files. Run `rustfmt` on a file that you change.

mod registry;

pub use registry::{Consumer, Function, Invoke, Program};

registry::functions! {
    reads {
        find_customer
        get_cart
        get_customer
        get_customer_overview
        get_discount
        get_gift_card
        get_invoice
        get_order
        get_order_invoice
        get_product
        get_product_stats
        list_customer_invoices
        list_customer_orders
        list_customer_products
        list_flagged_orders
        list_invoice_payments
        list_order_products
        list_orders
        list_product_orders
        list_products
        list_totals
    }

    writes {
        adjust_stock
        cancel_order
        capture_payment
        change_order_status
        confirm_refund
        create_customer
        create_discount
        create_gift_card
        create_product
        delete_cart
        flag_order
        place_order
        put_cart
        record_view
        unflag_order
        update_customer
        update_product
    }

    consumers {
        count_orders
        drain_writes
        expire_orders
        publish_order_events
        reconcile_counts
    }
}
