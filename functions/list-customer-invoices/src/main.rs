//! The Lambda of [`list_customer_invoices`].

fn main() -> Result<(), edge::Error> {
    edge::serve(&list_customer_invoices::ROUTE, list_customer_invoices::handle)
}
