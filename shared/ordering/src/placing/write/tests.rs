//! The meaning of a cancelled transaction for a line of the order.

use key_schema::value::Cells;
use table::{Item, write_item};

use super::*;
use crate::placing::quote::tests::{eur, shop};

/// A request for p0 and p1 at 1,000, with one unit of the first and two of the second.
fn asked() -> NewOrder {
    shop(&[1000, 1000], &[], None).0
}

fn line(product: &str, quantity: i64) -> OrderLine {
    let (product_id, units) = (product.parse().expect("an id"), quantity.try_into().expect("a quantity"));
    OrderLine::new(product_id, "A thing".to_owned(), units, eur(1000), eur(1000 * quantity))
}

/// The failure if the condition of p1's line failed on this item. That line is the transaction's first, and the request's
/// second.
fn failure(item: Option<Item>) -> CommitFailure {
    let guards = [Guard::Header, Guard::Stock(line("p1", 2)), Guard::Stock(line("p0", 1))];
    let causes = vec![Cause::None, Cause::Condition(item), Cause::None];
    Guards(guards.into()).failure(&asked(), causes).expect("a meaning")
}

fn stock(available: u64, price: i64, cells: i64) -> Item {
    let cells: Cells = cells.try_into().expect("a number of cells");
    write_item(&Stock::new("p1".parse().expect("an id"), available, eur(price), cells)).expect("an item")
}

#[test]
fn too_little_in_the_only_cell_is_a_rejection_that_names_the_line_in_the_basket() {
    let expected = Rejection::OutOfStock { line: 1, product: "p1".parse().expect("an id"), available: 1 };
    assert!(matches!(failure(Some(stock(1, 1000, 1))), CommitFailure::Rejected(rejection) if rejection == expected));
}

#[test]
fn a_changed_price_is_not_a_rejection() {
    assert!(matches!(failure(Some(stock(1, 900, 1))), CommitFailure::Retry { short } if short.is_empty()));
}

#[test]
fn too_little_in_one_of_several_cells_and_a_removed_cell_lead_to_another_read() {
    let short = |item| match failure(item) {
        CommitFailure::Retry { short } => short.len(),
        CommitFailure::AlreadyPlaced | CommitFailure::Rejected(_) => panic!("this can be tried again"),
    };
    let other = |available| {
        let cell = StockCell::new("p1".parse().expect("an id"), 3, available, eur(1000));
        write_item(&cell).expect("an item")
    };
    let of = |available: u64| [Some(stock(available, 1000, 4)), Some(other(available))].map(short);
    assert_eq!([of(1), of(2), of(3)], [[1, 1], [0, 0], [0, 0]], "the line takes two units");
    assert_eq!(short(None), 1);
}
