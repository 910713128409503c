//! The Lambda of [`list_invoice_payments`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_invoice_payments::ROUTE, list_invoice_payments::handle)
}
