//! The functions that answer a route and only read.
//!
//! A macro declares the modules, so `cargo fmt` does not find their files. Run `rustfmt` on a file that you change.

mod owner;

http_api::routes! {
    export_customer
    find_customer
    get_addresses
    get_cart
    get_customer
    get_customer_overview
    get_discount
    get_gift_card
    get_guest
    get_guest_invoice_page
    get_guest_order
    get_invoice
    get_invoice_page
    get_order
    get_order_invoice
    get_product
    get_product_stats
    get_taxes
    get_shipping
    list_categories
    list_customer_invoices
    list_customer_orders
    list_customer_products
    list_flagged_orders
    list_invoice_payments
    list_open_returns
    list_order_products
    list_orders
    list_payments_due
    list_product_orders
    list_products
    list_returns
    list_shipments
    list_totals
    list_variants
    search_products
}
