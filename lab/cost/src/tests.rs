//! Laws of bills, for any shop.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;
use rust_decimal::{Decimal, dec};

use super::bill::{Class, Mode, Service};
use super::deployment::Deployment;
use super::estimate::{Estimate, estimate};
use super::prices::{PriceList, SHIPPED};
use super::profile::{EXAMPLE, Parameter, Profile, Views};
use super::usage::Usage;

static PRICES: LazyLock<PriceList> = LazyLock::new(|| PriceList::parse(SHIPPED).unwrap());

fn example() -> Profile {
    Profile::parse(EXAMPLE).unwrap()
}

fn deployed(parameters: &BTreeMap<String, Parameter>) -> Deployment {
    Deployment::read(parameters).unwrap()
}

static DEPLOYED: LazyLock<Deployment> = LazyLock::new(|| deployed(&example().parameters));

fn costs(profile: &Profile) -> Estimate {
    estimate(profile, &PRICES, &DEPLOYED).unwrap()
}

/// The example with one text replaced.
fn changed(from: &str, to: &str) -> anyhow::Result<Profile> {
    assert!(EXAMPLE.contains(from), "{from}");
    Profile::parse(&EXAMPLE.replacen(from, to, 1))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_lines_of_a_bill_add_up_to_its_total_to_the_cent(orders in 0..50_000_000_u64, lines in 10..400_u32) {
        let mut profile = example();
        profile.orders = orders.into();
        profile.order.lines = Decimal::new(lines.into(), 1);
        let Estimate { bill, choices, .. } = costs(&profile);
        prop_assert_eq!(bill.lines.iter().map(|line| line.usd).sum::<Decimal>(), bill.total);
        prop_assert_eq!(bill.services.values().sum::<Decimal>(), bill.total);
        prop_assert!(bill.lines.iter().all(|line| line.usd.scale() == 2));
        let chosen: Vec<_> = choices.iter().filter(|choice| choice.is_chosen).collect();
        prop_assert_eq!(chosen.len(), 1);
        prop_assert_eq!(chosen[0].total, bill.total);
        prop_assert!(choices.iter().all(|choice| choice.total >= choices.iter().find(|best| best.is_cheapest).unwrap().total));
    }

    #[test]
    fn more_orders_never_cost_less(orders in 0..20_000_000_u64, more in 0..20_000_000_u64) {
        let bills = [orders, orders + more].map(|orders| {
            let mut profile = example();
            profile.orders = orders.into();
            costs(&profile).choices.into_iter().map(|choice| choice.total).collect::<Vec<_>>()
        });
        prop_assert!(bills[0].iter().zip(&bills[1]).all(|(fewer, more)| fewer <= more), "{:?}", bills);
    }

}

#[test]
fn the_example_is_a_profile() {
    let estimate = costs(&example());
    assert_eq!(estimate.orders, dec!(1000000));
    let unused = estimate.bill.lines.iter().filter(|line| line.quantity.is_zero()).map(|line| line.service);
    assert_eq!(unused.collect::<Vec<_>>(), [Service::SecretsManager], "the example uses everything but cards");
}

#[test]
fn an_order_costs_the_units_of_the_ledger() {
    // Two lines, no code, no gift card, no queue: 12 units of the table and 4 of each index, and 4 read units.
    let mut profile = example();
    profile.calls_per_order.clear();
    (profile.order.with_discount, profile.order.with_gift_card) = (Decimal::ZERO, Decimal::ZERO);
    profile.order.queued = Decimal::ZERO;
    let placed = costs(&profile).usage.calls["place-order"];
    let units = (placed.units.write(), placed.units.read());
    assert_eq!((placed.count, units), (dec!(1000000), (dec!(20000000), dec!(4000000))));
}

#[test]
fn half_a_line_more_is_one_line_more_for_half_of_the_orders() {
    let writes = |lines| {
        let mut profile = example();
        profile.order.lines = lines;
        costs(&profile).usage.calls["place-order"].units.write()
    };
    assert_eq!(writes(dec!(2.5)) * dec!(2), writes(dec!(2)) + writes(dec!(3)));
}

#[test]
fn a_backup_is_billed_as_a_whole_copy_for_as_long_as_it_is_kept() {
    let copies = |schedule: &str, days: u64| {
        let schedule = ("BackupSchedule".to_owned(), Parameter::Text(schedule.to_owned()));
        let days = ("BackupDays".to_owned(), Parameter::Number(days));
        let Estimate { bill, .. } = estimate(&example(), &PRICES, &deployed(&[schedule, days].into())).unwrap();
        let of = |what: &str| bill.lines.iter().find(|line| line.what == what).unwrap().quantity;
        of("backups") / of("recovery to any second")
    };
    assert_eq!((copies("daily", 90), copies("weekly", 91), copies("weekly", 0)), (dec!(90), dec!(13), Decimal::ZERO));
    assert!(copies("monthly", 90) > dec!(2.9) && copies("monthly", 90) < dec!(3));
}

#[test]
fn comparing_counts_stays_within_its_rate_and_takes_longer_instead() {
    let example = example();
    let enough = u64::try_from(costs(&example).units_for_one_day).unwrap();
    let mut read_before = Decimal::ZERO;
    for units in [20, 100, enough - 1, enough, 10_000] {
        let deployment = deployed(&[("ReconcileReadUnits".to_owned(), Parameter::Number(units))].into());
        let usage = Usage::of(&example, &deployment, PRICES.month).unwrap();
        let (comparison, read) = (usage.comparison, usage.calls["reconcile-counts"].units.read());
        assert!(read <= Decimal::from(units) * PRICES.month.seconds(), "{units}: {read}");
        // At a high rate a page has more orders, so that less is rounded up.
        assert!(read >= read_before * dec!(0.95), "{units}: {read}");
        // What is not read within a day is read on the following days.
        let wanted = comparison.units.read() * PRICES.month.days();
        assert!((read * comparison.days.max(Decimal::ONE) / wanted - Decimal::ONE).abs() < dec!(0.000001), "{units}");
        assert_eq!(comparison.days <= Decimal::ONE, units >= enough, "{units}: {}", comparison.days);
        read_before = read;
    }
}

#[test]
fn a_list_in_more_shards_costs_more_to_read() {
    for (parameter, function) in [("StatusShards", "list-orders"), ("ProductShards", "list-product-orders")] {
        let mut profile = example();
        profile.calls_per_order.insert(function.to_owned(), Decimal::ONE);
        let reads = |shards: u64| {
            let parameters = [(parameter.to_owned(), Parameter::Number(shards))].into();
            Usage::of(&profile, &deployed(&parameters), PRICES.month).unwrap().calls[function].units
        };
        assert!(reads(64).0[1].read > reads(8).0[1].read, "{parameter}");
    }
}

#[test]
fn a_queued_order_costs_messages_and_a_second_attempt() {
    let profile = changed("queued: 0.01", "queued: 1").unwrap();
    let usage = Usage::of(&profile, &DEPLOYED, PRICES.month).unwrap();
    assert_eq!(usage.sqs_requests, dec!(3000000));
    assert_eq!(usage.calls["drain-writes"].count, dec!(1000000));
}

#[test]
fn several_views_in_a_request_cost_fewer_requests_and_as_many_writes_and_a_mark_one_more() {
    let usage = |per_request: &str, once: &str| {
        let profile = changed("per_request: 10", &format!("per_request: {per_request}")).unwrap();
        let once_a_day = once == "true";
        let profile = Profile { views: Views { once_a_day, ..profile.views }, ..profile };
        Usage::of(&profile, &DEPLOYED, PRICES.month).unwrap()
    };
    let (one, ten, by_visitor) = (usage("1", "false"), usage("10", "false"), usage("10", "true"));
    let calls = |usage: &Usage| usage.calls["record-views"].count;
    let writes = |usage: &Usage| usage.calls["record-views"].units.write();
    assert_eq!((calls(&one), calls(&ten), calls(&by_visitor)), (dec!(30000000), dec!(3000000), dec!(3000000)));
    assert_eq!((writes(&one), writes(&ten), writes(&by_visitor)), (dec!(30000000), dec!(30000000), dec!(60000000)));
    assert_eq!(one.http_requests - ten.http_requests, dec!(27000000));
}

#[test]
fn a_payment_by_card_costs_requests_a_message_events_and_a_secret() {
    let [without, with] = [Decimal::ZERO, Decimal::ONE].map(|by_card| {
        let mut profile = example();
        profile.order.by_card = by_card;
        Usage::of(&profile, &DEPLOYED, PRICES.month).unwrap()
    });
    let orders = example().orders;
    assert_eq!(with.http_requests - without.http_requests, dec!(3) * orders);
    assert_eq!(with.sqs_requests - without.sqs_requests, dec!(3) * orders);
    assert_eq!(with.events - without.events, dec!(4) * orders);
    assert_eq!((with.secrets, without.secrets), (Decimal::ONE, Decimal::ZERO));
    let calls = |usage: &Usage, function: &str| usage.calls[function].count;
    for (function, times) in [("start-payment", 1), ("receive-payment-event", 2), ("settle-payments", 1)] {
        let more = calls(&with, function) - calls(&without, function);
        assert_eq!(more, Decimal::from(times) * orders, "{function}");
    }
    let units = |usage: &Usage, function: &str| usage.calls[function].units.write();
    assert!(units(&with, "change-order-status") > units(&without, "change-order-status"), "the mark is not free");
    assert_eq!(units(&without, "settle-payments"), Decimal::ZERO, "the schedule only reads");
}

#[test]
fn the_bill_has_the_metrics_that_functions_emit() {
    let folders =
        ["consumers", "writes"].map(|name| format!("{}/../../functions/{name}/src", env!("CARGO_MANIFEST_DIR")));
    let files = folders.into_iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let files = files.map(|file| file.unwrap().path()).filter(|path| path.is_file());
    // The example's table does not migrate.
    let files = files.filter(|path| !path.ends_with("repair_copies.rs"));
    let told = files.map(|path| std::fs::read_to_string(path).unwrap().matches(", Measure::").count());
    let profile = changed("BillingMode: PAY_PER_REQUEST", "SearchUrl: https://search.example").unwrap();
    let searched = Usage::of(&profile, &deployed(&profile.parameters), PRICES.month).unwrap();
    // The cashier tells staff. Of the shop: placed, paid, their value, captured money, and five reasons of refusals.
    assert_eq!(searched.metrics, Decimal::from(told.sum::<usize>() + 1 + 4 + 5));
    let usage = Usage::of(&example(), &DEPLOYED, PRICES.month).unwrap();
    assert_eq!(usage.metrics, searched.metrics - dec!(2), "without index-products");
}

#[test]
fn a_request_without_effect_is_not_counted_as_a_change() {
    let events = |name: &str| {
        let profile = changed("capture-payment: 0.98", &format!("{name}: 0.98")).unwrap();
        Usage::of(&profile, &DEPLOYED, PRICES.month).unwrap().events
    };
    assert_eq!(events("capture-payment") - events("capture-payment/again"), dec!(1960000));
}

#[test]
fn a_provisioned_table_is_billed_by_the_hour_and_pays_for_its_alarms() {
    let profile = changed("BillingMode: PAY_PER_REQUEST", "BillingMode: PROVISIONED").unwrap();
    let Estimate { bill, choices, .. } = estimate(&profile, &PRICES, &deployed(&profile.parameters)).unwrap();
    let quantity = |what: &str| bill.lines.iter().find(|line| line.what == what).map(|line| line.quantity);
    assert_eq!(quantity("alarms of autoscaling"), Some(dec!(24)));
    assert!(quantity("provisioned writes").is_some() && quantity("writes").is_none());
    let chosen = choices.iter().find(|choice| choice.is_chosen).unwrap();
    assert_eq!((chosen.mode, chosen.class), (Mode::Autoscaled, Class::Standard));
}

#[test]
fn a_closed_shop_pays_for_fixed_costs() {
    let mut profile = changed("BillingMode: PAY_PER_REQUEST", "BillingMode: PROVISIONED").unwrap();
    profile.orders = Decimal::ZERO;
    let Estimate { bill, .. } = estimate(&profile, &PRICES, &deployed(&profile.parameters)).unwrap();
    let usd = |what: &str| bill.lines.iter().find(|line| line.what == what).unwrap().usd;
    // Ten units of the table and of two indexes, for 730 hours.
    assert_eq!(usd("provisioned writes"), dec!(14.24));
    assert_eq!((usd("alarms"), usd("dashboard"), usd("metrics")), (dec!(7.60), dec!(3.00), dec!(7.80)));
    // There are no requests, but the schedules still run.
    assert_eq!(usd("requests"), Decimal::ZERO);
}

#[test]
fn the_largest_shop_that_a_profile_can_state_has_a_bill() {
    let mut profile = example();
    profile.orders = dec!(1000000000000);
    profile.calls_per_order.values_mut().for_each(|calls| *calls = dec!(1000000));
    (profile.views.per_order, profile.views.per_request) = (dec!(1000000), Decimal::ONE);
    profile.kept.order_months = dec!(1200);
    profile.utilization = dec!(0.000000001);
    assert!(costs(&profile).bill.total > dec!(1000000000000));
}

#[test]
fn a_price_of_zero_is_valid() {
    let free = SHIPPED.split("usd: ").enumerate().map(|(at, rest)| match (at, rest.find([' ', ',', '\n'])) {
        (0, _) | (_, None) => rest.to_owned(),
        (_, Some(end)) => format!("usd: 0{}", &rest[end..]),
    });
    let prices = PriceList::parse(&free.collect::<String>()).unwrap();
    assert_eq!(estimate(&example(), &prices, &DEPLOYED).unwrap().bill.total, Decimal::ZERO);
}

#[test]
fn an_error_in_a_profile_names_the_field() {
    for (from, to, complaint) in [
        ("orders: 1000000", "order: 1000000", "order: invalid type"),
        ("peak_to_mean: 5\n", "", "missing field `peak_to_mean`"),
        ("peak_to_mean: 5", "peak_to_mean: 0.5", "peak_to_mean: 0.5 is not from 1 to 10000"),
        ("per_request: 10", "per_request: 51", "views.per_request: 51 is not from 1 to 50"),
        ("peak_to_mean: 5", "peak: 5", "peak: unknown field `peak`, expected one of"),
        ("  lines: 2", "  lines: many", "order.lines: invalid value: string \"many\""),
        ("  lines: 2", "  lines: 41", "order.lines: 41 is not from 1 to 40"),
        ("  name_bytes: 24", "  name_bytes: 0", "sizes.name_bytes: 0 is not from 1 to 800"),
        ("with_discount: 0.1", "with_discount: 10", "order.with_discount: 10 is not from 0 to 1"),
        ("utilization: 0.4", "utilization: 0", "utilization: of a capacity that is never used"),
        ("get-order: 2", "get-order: -2", "calls_per_order.get-order: -2 is not from 0 to"),
        ("    usually: 20\n", "", "call.milliseconds: `usually` is missing"),
    ] {
        let error = format!("{:#}", changed(from, to).unwrap_err());
        assert!(error.contains(complaint), "{error}");
    }
}

#[test]
fn a_mismatch_between_profile_and_deployment_names_the_field() {
    for (from, to, complaint) in [
        ("  get-order: 2", "  get-oder: 2", "calls_per_order.get-oder: no function of this name answers a route"),
        (
            "  get-order: 2",
            "  count-orders: 2",
            "calls_per_order.count-orders: no function of this name answers a route",
        ),
        ("  get-order: 2", "  get-order/lost: 2", "calls_per_order.get-order/lost: the ledger knows these cases of it"),
        ("  get-order: 2", "  place-order: 2", "calls_per_order.place-order: it is called once for each order"),
        ("utilization: 0.4", "utilization: 0.8", "utilization: 0.8 is more than 0.7, which autoscaling aims at"),
    ] {
        let profile = changed(from, to).unwrap();
        let error = format!("{:#}", estimate(&profile, &PRICES, &DEPLOYED).unwrap_err());
        assert!(error.starts_with(complaint), "{error}");
    }
}
