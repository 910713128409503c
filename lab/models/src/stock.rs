//! The writes of a stock, applied to a table one after the other. For concurrent transactions see [`crate::order`].

use key_schema::entity::{Stock, StockCell, WholeStock};
use key_schema::layout::InStock;
use key_schema::value::{Cells, Currency, Money, ProductId, Quantity};
use proptest::collection::vec;
use proptest::prelude::*;
use stock::{NextRead, Proof, Source};
use table::{Cause, Item, Write, read_item};

use crate::table::{Place, Table, Transaction};

fn thing() -> ProductId {
    "thing".parse().expect("an id")
}

fn eur(amount: i64) -> Money {
    Money::new(amount, Currency::try_from("EUR".to_owned()).expect("a currency")).expect("an amount")
}

fn cells(count: usize) -> Cells {
    i64::try_from(count).expect("a number").try_into().expect("a number of cells")
}

fn stock_of(units: &[u64], price: Money) -> WholeStock {
    WholeStock { units: units.to_vec(), ..WholeStock::shared_out(thing(), price, 0, cells(units.len())) }
}

fn table_of(whole: &WholeStock) -> Table {
    let mut table = Table::default();
    table.commit(&Transaction::new(&stock::begin(whole).expect("writes"))).expect("nothing is there");
    table
}

fn commit(table: &mut Table, writes: &[Write]) -> Result<(), Vec<Cause>> {
    table.commit(&Transaction::new(writes)).map(|_| ())
}

fn item<T: serde::de::DeserializeOwned>(table: &Table, place: impl Into<Place>) -> Option<T> {
    table.get(&place.into()).map(|stored| read_item(stored.0.clone()).expect("a cell"))
}

fn first(table: &Table) -> Stock {
    item(table, Stock::key_of(&thing())).expect("a stock")
}

fn other(table: &Table, cell: u8) -> Option<StockCell> {
    item(table, StockCell::key_of(&thing(), cell))
}

fn in_stock(table: &Table) -> Vec<InStock> {
    let keys = StockCell::keys_of(&thing(), first(table).cells);
    keys.into_iter().filter_map(|key| item(table, key)).collect()
}

fn whole(table: &Table) -> WholeStock {
    InStock::assemble(first(table).cells, in_stock(table)).expect("a whole stock")
}

/// The stock without the random marks of transfers.
fn unmarked(mut stock: WholeStock) -> WholeStock {
    assert_eq!(stock.transferred.iter().sum::<i64>(), 0, "the marks of all cells add up to zero");
    stock.transferred.fill(0);
    stock
}

fn any_units() -> impl Strategy<Value = Vec<u64>> {
    vec(0..20_u64, 1..6)
}

fn as_there<T>(causes: Result<(), Vec<Cause>>) -> Vec<Option<T>>
where
    T: serde::de::DeserializeOwned,
{
    let read = |item: Item| read_item(item).expect("a cell");
    let causes = causes.expect_err("a condition");
    causes
        .into_iter()
        .map(|cause| if let Cause::Condition(Some(item)) = cause { Some(read(item)) } else { None })
        .collect()
}

proptest! {
    #[test]
    fn a_stock_is_created_as_requested_and_only_once(units in any_units()) {
        let wanted = stock_of(&units, eur(100));
        let mut table = table_of(&wanted);
        prop_assert_eq!(whole(&table), wanted.clone());
        let again = commit(&mut table, &stock::begin(&wanted).expect("writes"));
        prop_assert_eq!(as_there::<InStock>(again).len(), units.len());
        prop_assert_eq!(whole(&table), wanted);
    }

    #[test]
    fn a_stock_is_adjusted_by_the_difference_and_no_cell_falls_below_zero(
        pairs in vec((0..20_u64, 0..20_u64, 0..20_u64), 1..6),
    ) {
        let (before, after): (Vec<_>, Vec<_>) = pairs.iter().map(|(before, after, _)| (*before, *after)).unzip();
        let seen = stock_of(&before, eur(100));
        let writes = stock::adjust(&seen, &after).expect("writes");
        let changed = before.iter().zip(&after).filter(|(before, after)| before != after).count();
        prop_assert_eq!(writes.len(), changed, "a write for each cell that is to have another number");
        // Units were sold from each cell since the stock was read.
        let now: Vec<u64> = pairs.iter().map(|(before, _, sold)| before.saturating_sub(*sold)).collect();
        let mut table = table_of(&stock_of(&now, eur(100)));
        let wanted: Vec<_> = (0..now.len()).map(|at| (now[at] + after[at]).checked_sub(before[at])).collect();
        let is_enough = (0..now.len()).all(|at| before[at] == after[at] || wanted[at].is_some());
        let done = commit(&mut table, &writes);
        prop_assert_eq!(done.is_ok(), is_enough);
        let wanted = if is_enough { wanted.into_iter().flatten().collect() } else { now };
        prop_assert_eq!(unmarked(whole(&table)).units, wanted);
        if is_enough && changed > 1 {
            prop_assert!(before.iter().zip(&after).zip(&whole(&table).transferred).all(|((b, a), transferred)| (b != a) == (*transferred != 0)));
        }
    }

    #[test]
    fn a_changed_stock_is_the_requested_one(
        from in any_units(), to in any_units(), same: bool, dearer: bool, transferred in vec(-1..=1_i64, 5),
    ) {
        let to = if same { from.clone() } else { to };
        // The cells have marks of earlier transfers, which add up to zero.
        let mut seen = stock_of(&from, eur(100));
        let mut table = table_of(&seen);
        let marks: Vec<i64> = transferred.into_iter().take(from.len() - 1).collect();
        seen.transferred = [marks.clone(), vec![-marks.iter().sum::<i64>()]].concat();
        for (cell, mark) in (0_u8..).zip(&seen.transferred).filter(|(_, mark)| **mark != 0) {
            let place = if cell == 0 { Stock::key_of(&thing()) } else { StockCell::key_of(&thing(), cell) };
            let place = Place::from(place);
            let mut item = table.get(&place).expect("a cell").0.clone();
            item.insert("transferred".to_owned(), table::AttributeValue::N(mark.to_string()));
            table.insert(place, item);
        }
        prop_assert_eq!(&whole(&table), &seen);

        let wanted = WholeStock {
            price: if dearer { eur(200) } else { eur(100) },
            price_version: if dearer { 7 } else { 0 },
            ..seen.laid_out(cells(to.len()), false)
        };
        let wanted = WholeStock { units: to, ..wanted };
        let writes = stock::change(&seen, &wanted).expect("writes");
        prop_assert!(writes.len() <= from.len().max(wanted.units.len()));
        prop_assert_eq!(writes.is_empty(), from == wanted.units && !dearer);
        commit(&mut table, &writes).expect("nothing has changed since");
        let after = unmarked(whole(&table));
        prop_assert_eq!((after.units, after.price, after.price_version), (wanted.units, wanted.price, wanted.price_version));
        // Existing cells get the price later.
        let behind = if dearer { (1..from.len().min(after.transferred.len())).map(|cell| u8::try_from(cell).expect("a cell")).collect() } else { vec![] };
        prop_assert_eq!(after.behind, behind);
        for cell in after.transferred.len()..from.len() {
            prop_assert_eq!(other(&table, u8::try_from(cell).expect("a cell")), None, "it is given up");
        }
    }

    #[test]
    fn gathering_units_in_one_cell_conserves_them(units in vec(0..6_u64, 2..6), wanted in 1..25_u64) {
        let before = stock_of(&units, eur(100));
        let mut table = table_of(&before);
        let Some(writes) = stock::gathering(&before, wanted).expect("writes") else {
            prop_assert!(units.iter().any(|has| *has >= wanted) || before.available() < wanted);
            return Ok(());
        };
        commit(&mut table, &writes).expect("nothing has changed since");
        let after = whole(&table);
        prop_assert_eq!((after.units.iter().max(), after.available()), (Some(&wanted), before.available()));
        prop_assert!(after.transferred.iter().zip(after.units.iter().zip(&units)).all(|(mark, (a, b))| (a == b) == (*mark == 0)));
        unmarked(after);
    }
}

#[test]
fn removing_a_cell_loses_no_unit_if_some_are_sold_meanwhile() {
    let seen = stock_of(&[3, 4], eur(100));
    let wanted = stock_of(&[7], eur(100));
    let mut table = table_of(&stock_of(&[3, 3], eur(100)));
    let causes = commit(&mut table, &stock::change(&seen, &wanted).expect("writes"));
    let [None, Some(cell)] = &as_there::<StockCell>(causes)[..] else { panic!("the cell has changed") };
    assert_eq!((cell.cell, cell.available), (1, 3));
    assert_eq!(whole(&table), stock_of(&[3, 3], eur(100)));
}

#[test]
fn returned_units_are_no_transfer_and_gathered_units_are_one() {
    let seen = stock_of(&[3, 4], eur(100));
    let mut table = table_of(&seen);
    commit(&mut table, &stock::adjust(&seen, &[3, 9]).expect("writes")).expect("done");
    let cell = other(&table, 1).expect("a cell");
    assert_eq!((cell.available, cell.put_backs, cell.transferred), (9, 1, 0));
    commit(&mut table, &[stock::put_back(&thing(), quantity(2)).expect("a write")]).expect("done");
    assert_eq!((first(&table).available, first(&table).put_backs, first(&table).transferred), (5, 1, 0));
    let mut empty = Table::default();
    assert!(commit(&mut empty, &[stock::put_back(&thing(), quantity(2)).expect("a write")]).is_err());
}

fn quantity(number: i64) -> Quantity {
    number.try_into().expect("a quantity")
}

/// An order takes available units at the price that it read, and updates the price of a cell that is behind the first
/// one.
#[test]
fn an_order_takes_available_units_at_the_price_of_the_first_cell() {
    let take = |table: &mut Table, cell, price_version, units, price| {
        let write =
            stock::take(&thing(), Source { cell, price_version }, quantity(units), eur(price)).expect("a write");
        commit(table, &[write]).is_ok()
    };
    let mut table = table_of(&stock_of(&[3, 3], eur(100)));
    assert!(!take(&mut table, 0, 0, 4, 100), "there are not as many");
    assert!(!take(&mut table, 0, 0, 1, 99), "not at this price");
    assert!(take(&mut table, 0, 0, 3, 100));
    assert!(!take(&mut table, 0, 0, 1, 100), "there are none");
    assert!(!take(&mut table, 1, 0, 1, 99), "not at this price");
    assert!(take(&mut table, 1, 0, 1, 100));

    // The first cell has its second price, 200; the other cell still has the first price.
    assert!(!take(&mut table, 1, 2, 3, 200), "there are not as many");
    assert!(take(&mut table, 1, 2, 1, 200));
    let cell = other(&table, 1).expect("a cell");
    assert_eq!((cell.available, cell.price, cell.price_version), (1, eur(200), 2));
    assert!(!take(&mut table, 1, 2, 1, 100), "of the same version at another price");
    assert!(!take(&mut table, 1, 1, 1, 100), "the price is older than that of the cell");
    assert!(!take(&mut table, 1, 0, 1, 200), "the order has read no version, and the cell has one");
    assert!(take(&mut table, 1, 2, 1, 200));
}

/// The first cell says that the product is recalled, whether or not the number of cells changes with the recall.
#[test]
fn a_recalled_stock_gives_units_again_when_the_recall_is_lifted() {
    let mut table = table_of(&stock_of(&[6], eur(100)));
    let take = |table: &mut Table| {
        let from = Source { cell: 0, price_version: first(table).price_version };
        commit(table, &[stock::take(&thing(), from, quantity(1), eur(100)).expect("a write")]).is_ok()
    };
    for (price_version, (recalled, count)) in (2..).zip([(true, 1), (false, 1), (true, 2), (true, 3), (false, 2)]) {
        let seen = whole(&table);
        let wanted = WholeStock { recalled, price_version, ..seen.laid_out(cells(count), false) };
        commit(&mut table, &stock::change(&seen, &wanted).expect("writes")).expect("nothing has changed since");
        let available = whole(&table).available();
        assert_eq!((first(&table).recalled, whole(&table).recalled), (recalled, recalled));
        assert_eq!(take(&mut table), !recalled);
        assert_eq!(whole(&table).available(), available - u64::from(!recalled));
    }
}

/// [`Proof`]: two reads between which no cell gained units.
#[test]
fn two_equal_reads_are_a_proof_and_reads_with_transfers_between_them_are_not() {
    let read = |units: &[u64], transferred: &[i64], put_backs: u64| {
        let mut items = in_stock(&table_of(&stock_of(units, eur(100))));
        for item in &mut items {
            match item {
                InStock::Stock(first) => (first.transferred, first.put_backs) = (transferred[0], put_backs),
                InStock::StockCell(cell) => cell.transferred = transferred[usize::from(cell.cell)],
                InStock::Unknown => {}
            }
        }
        items
    };
    let mut proof = Proof::default();
    assert!(matches!(proof.found(read(&[3, 4], &[0, 0], 0)), NextRead::Cells { backoff: false }));
    let NextRead::None(items) = proof.found(read(&[2, 4], &[0, 0], 0)) else { panic!("only less: that is proven") };
    assert_eq!(items, read(&[3, 4], &[0, 0], 0), "what the first read saw");

    let backs_off = |before, after| {
        let mut proof = Proof::default();
        proof.found(before);
        matches!(proof.found(after), NextRead::Cells { backoff: true })
    };
    assert!(backs_off(read(&[3, 4], &[0, 0], 0), read(&[4, 4], &[0, 0], 1)), "a unit was put back");
    assert!(backs_off(read(&[3, 4], &[0, 0], 0), read(&[4, 3], &[5, -5], 0)), "a unit was transferred");
    assert!(backs_off(read(&[3, 4], &[5, 0], 0), read(&[3, 4], &[5, 0], 0)), "half of a transfer is visible");
    let incomplete = || read(&[3, 4], &[0, 0], 0).into_iter().take(1).collect::<Vec<_>>();
    assert!(backs_off(incomplete(), incomplete()), "a cell is missing");

    // If a transfer stays half visible, a snapshot read follows the fifth pair of reads.
    let mut proof = Proof::default();
    let half = || read(&[3, 4], &[5, 0], 0);
    let steps: Vec<_> = (0..6).map(|_| matches!(proof.found(half()), NextRead::Snapshot)).collect();
    assert_eq!(steps, [false, false, false, false, false, true]);
    // Complete marks that change each time need no snapshot read.
    let mut proof = Proof::default();
    assert!((0..9).all(|mark| !matches!(proof.found(read(&[3, 4], &[mark, -mark], 0)), NextRead::Snapshot)));
}
