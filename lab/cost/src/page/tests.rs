//! Laws of the comparison of designs.

use rust_decimal::{Decimal, dec};

use super::designs::{Consumed, Design, TASKS, Task};
use super::{DESIGNS, shop};

fn consumed(design: Design, task: Task, orders: usize) -> Consumed {
    shop().consumed(design, task, orders).unwrap()
}

#[test]
fn every_task_is_done_by_the_example() {
    for (task, name, ..) in TASKS {
        assert!(shop().times(*task) > Decimal::ZERO, "{name}");
    }
}

#[test]
fn till_s_requests_cost_the_same_for_any_size_of_the_table() {
    for (task, name, ..) in TASKS {
        assert_eq!(consumed(Design::Till, *task, 10_000), consumed(Design::Till, *task, 1_000_000), "{name}");
    }
}

#[test]
fn till_stores_as_much_as_the_bill_of_the_same_shop_says() {
    let (shop, bill) = (shop(), super::example().bill);
    let stored = shop.stored(Design::Till, shop.kept()).unwrap() / dec!(1000000000);
    let billed = bill.lines.iter().find(|line| line.what == "storage, with indexes").unwrap().quantity;
    // The bill also includes the codes and gift cards of some orders.
    assert!(stored < billed && stored > billed * dec!(0.97), "{stored} {billed}");
}

#[test]
fn a_scan_costs_ten_times_as_much_in_a_table_ten_times_as_large() {
    for task in [Task::ListOfCustomer, Task::ListOfStatus, Task::ListOfProduct] {
        let [small, large] = [100_000, 1_000_000].map(|orders| consumed(Design::ThreeTables, task, orders));
        assert!((large.read / small.read - 10.0).abs() < 0.01, "{small:?} {large:?}");
    }
}

#[test]
fn three_tables_place_an_order_with_half_the_writes() {
    let [till, tables] = [Design::Till, Design::ThreeTables].map(|design| consumed(design, Task::Place, 1));
    assert_eq!((till.write, tables.write), (20.0, 10.0));
}

#[test]
fn a_fat_item_is_written_whole_until_it_exceeds_the_item_limit() {
    let shop = shop();
    let written = |orders| shop.consumed(Design::FatItems, Task::Place, orders).map(|consumed| consumed.write);
    assert!(written(100_000).is_some() && written(100_000) < written(1_000_000));
    assert_eq!(written(100_000_000), None);
}

#[test]
fn no_design_is_cheaper_with_more_orders() {
    let shop = shop();
    for (design, name) in DESIGNS {
        let months = (4..=6).map(|exponent| shop.month(design, 10_usize.pow(exponent), |_| true).unwrap());
        assert!(months.is_sorted(), "{name}");
    }
}
