//! The functions that answer a route and write.
//!
//! A macro declares the modules of the routes, so `cargo fmt` does not find their files. Run `rustfmt` on a file that you change.

mod carts;
mod changed;
mod guests;
mod image_change;
mod optimistic;
mod product_request;
mod settings;
mod units;
mod views;

http_api::routes! {
    add_image
    adjust_stock
    cancel_guest_order
    cancel_order
    capture_payment
    change_order_status
    claim_guest
    confirm_image
    confirm_refund
    create_customer
    create_discount
    create_gift_card
    create_guest
    create_product
    credit_order
    delete_cart
    erase_customer
    deliver_shipment
    flag_order
    place_guest_order
    place_order
    put_addresses
    put_cart
    put_taxes
    put_shipping
    quote_basket
    quote_guest_basket
    quote_guest_discount
    receive_payment_event
    receive_return
    record_view
    record_views
    remove_image
    request_guest_return
    request_return
    ship_items
    start_guest_payment
    start_payment
    unflag_order
    update_customer
    update_discount
    update_gift_card
    update_product
    write_off
    write_products
}
