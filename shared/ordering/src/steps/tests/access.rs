//! What the changes of an order ask of the table: every change, of every order that changes lead to, also if it was read
//! while another change was written. The lists of `access/changes.rs` have these accesses and no others.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::mem::discriminant;
use std::sync::LazyLock;

use key_schema::access::changed;
use key_schema::entity::{CardPayment, CodeUse, Dispute, Held, LineUnits, Progress, ProviderPayment};
use key_schema::layout::{Index, Key, entity_at};
use key_schema::value::{IntentId, OrderId, ReturnId, ShipmentId};
use table::{Rendered, Write, WriteKind};

use super::super::*;
use super::{FORTNIGHT, at, eur, sold};
use crate::changing::{Changing, ChangingAction};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/src/access/changes.rs");

/// What an access has in its name if it is made in transactions only.
const TOGETHER: &str = ".in_transactions()";

/// The accesses that a change of this order, as it was read, makes.
fn accesses(change: Transition<'_>, read: &WholeOrder) -> Vec<String> {
    let mut accesses = vec!["query(ORDER_BY_ID)".to_owned()];
    match Changing::new(change).order_read(read.clone(), at(6)).expect("a next request") {
        ChangingAction::Write(writes, _) => {
            let way = if writes.len() > 1 { TOGETHER } else { "" };
            accesses.extend(writes.iter().map(|write| access(write) + way));
        }
        ChangingAction::Settle(_) => {
            accesses.extend(["Invoice", "Order"].map(|item| told("transact_get", item)));
        }
        ChangingAction::Done(_) | ChangingAction::Read { .. } => {}
    }
    accesses
}

fn access(write: &Write) -> String {
    let write = write.rendered();
    let verb = match write.kind {
        WriteKind::Put => "put",
        WriteKind::Update => "update",
        WriteKind::Delete => "delete",
        WriteKind::Check => "check",
    };
    let [partition, sort] = ["PK", "SK"].map(|name| write.item[name].as_s().expect("a text").clone());
    let entity = entity_at(&Key { index: Index::Table, partition, sort }).expect("an entity");
    if write.kind == WriteKind::Update {
        let (_, changed) = changed().find(|(changes, _)| *changes == entity).expect("an entity that changes");
        let others: Vec<_> = attributes(&write).filter(|name| *name != "PK" && !changed.contains(name)).collect();
        assert!(others.is_empty(), "{others:?} of {entity} are not in the list of what changes");
        // Two changes of one version conflict, whichever attributes they change: each tests the version and replaces it.
        let versions = attributes(&write).filter(|name| *name == "version").count();
        assert!(versions == 2 || !["invoice", "order"].contains(&entity), "the version of {entity}: {write:?}");
    }
    told(verb, &format!("{}{}", entity[..1].to_uppercase(), &entity[1..]))
}

/// The attributes that an update names. Of a path in a map, that is the first part.
fn attributes(update: &Rendered) -> impl Iterator<Item = &str> {
    let paths = update
        .update
        .iter()
        .chain(&update.condition)
        .flat_map(|text| text.split(|letter: char| !letter.is_ascii_alphanumeric() && !"#_.".contains(letter)));
    let firsts = paths.filter(|path| path.starts_with('#')).filter_map(|path| path.split('.').next());
    firsts.map(move |name| update.names[name].as_str())
}

/// The change's name, as the enum has it.
fn name(change: Transition<'_>) -> String {
    format!("{change:?}").chars().take_while(char::is_ascii_alphanumeric).collect()
}

/// The name of a change's list: `CANCEL_UNITS` for `CancelUnits`.
fn list(name: &str) -> String {
    let words = name.char_indices().flat_map(|(at, letter)| {
        (at > 0 && letter.is_uppercase()).then_some('_').into_iter().chain([letter.to_ascii_uppercase()])
    });
    words.collect()
}

/// The accesses of the lists in this text of the file, each with the name of its list.
fn declared(text: &str) -> BTreeSet<String> {
    let lists = text.split('}').filter_map(|list| {
        let (name, accesses) = list.rsplit_once('{')?;
        Some((name.rsplit_once(" = ")?.1.trim(), accesses))
    });
    let accesses = lists.flat_map(|(list, accesses)| {
        let ways = accesses.split(';').zip(["", TOGETHER]);
        let verbs = ways.flat_map(|(verbs, way)| verbs.split(')').map(move |verb| (verb, way)));
        let verbs = verbs.filter_map(|(verb, way)| Some((verb.split_once('(')?, way)));
        let of_list =
            verbs.flat_map(|((verb, items), way)| items.split(' ').map(move |item| told(verb.trim(), item) + way));
        of_list.chain(["query(ORDER_BY_ID)".to_owned()]).map(move |access| format!("{list} {access}"))
    });
    accesses.collect()
}

fn told(verb: &str, item: &str) -> String {
    format!("{verb}::<{item}>()")
}

/// The first access of this change that its list does not have.
pub(super) fn undeclared(change: Transition<'_>, read: &WholeOrder) -> Option<String> {
    static DECLARED: LazyLock<BTreeSet<String>> = LazyLock::new(|| declared(include_str!("../../access/changes.rs")));
    let list = list(&name(change));
    // What may be done alone may also be done in a transaction.
    let may = |access: &String| {
        [access, access.trim_end_matches(TOGETHER)].iter().any(|one| DECLARED.contains(&format!("{list} {one}")))
    };
    accesses(change, read).into_iter().find(|access| !may(access)).map(|access| format!("{change:?}: {access}"))
}

/// What the changes name.
struct Names {
    key: IdempotencyKey,
    intents: [IntentId; 2],
    shipment: ShipmentId,
    return_id: ReturnId,
    /// One unit of the order's line, and two, which are all.
    units: [[LineUnits; 1]; 2],
}

impl Names {
    fn of(order: &OrderId) -> Self {
        let key: IdempotencyKey = "a-key".parse().expect("a key");
        let units = |units: i64| {
            [LineUnits { product_id: "p0".parse().expect("an id"), quantity: units.try_into().expect("a quantity") }]
        };
        Self {
            intents: ["pi_1", "pi_2"].map(|id| id.parse().expect("an id")),
            shipment: ShipmentId::of(order, &key),
            return_id: ReturnId::of(order, &key),
            key,
            units: [units(1), units(2)],
        }
    }

    /// Every change that may be asked of an order.
    fn changes(&self, whole: &WholeOrder) -> Vec<Transition<'_>> {
        let mut changes = vec![
            Transition::DeliverShipment { id: &self.shipment },
            Transition::RequestCapture,
            Transition::Capture { reference: "bank-1", amount: None },
            Transition::ConfirmRefund { reference: "back-1", amount: None },
            Transition::WriteOff { amount: None },
            Transition::Allow(AllowanceRequest { key: &self.key, amount: eur(50), reason: "a scratch" }),
            Transition::Expire { deadline: at(5) },
            Transition::ExpireLapsed { deadline: at(5) },
        ];
        changes.extend(whole.invoice.card().into_iter().flat_map(|card| self.payments(whole, card)));
        // Troubles at the provider multiply the states, and ask no more of the other changes than a payment that
        // lapsed.
        if whole.invoice.card().is_some_and(is_troubled) {
            return changes;
        }
        for captures in [false, true] {
            changes.extend(OrderStatus::ALL.iter().map(|to| Transition::Advance { to: *to, captures }));
            changes.extend([None, Some(&self.units[0][..])].map(|lines| {
                let (id, carrier) = (&self.shipment, "Parcel Post");
                let (tracking_number, tracking_url) = (None, None);
                Transition::ShipItems(ShipmentRequest { id, lines, carrier, tracking_number, tracking_url, captures })
            }));
        }
        for cause in [CancellationCause::Customer, CancellationCause::Staff] {
            let cancel = Cancel { cause, reason: None };
            changes.push(Transition::Cancel(cancel));
            changes.extend(self.units.iter().map(|lines| Transition::CancelUnits { lines, cancel }));
        }
        let id = &self.return_id;
        // A return asks the same of an order that was delivered as a whole.
        let returned = self.units.iter().filter(|_| whole.shipments.is_empty());
        changes.extend(returned.map(|lines| {
            Transition::RequestReturn(ReturnRequest { id, lines, reason: None, within: Some(&FORTNIGHT) })
        }));
        let accept = [true, false].map(|restock| ReturnVerdict::Accept { restock, with_shipping: true });
        let verdicts = accept.into_iter().chain([ReturnVerdict::Refuse { reason: "used" }]);
        changes.extend(verdicts.map(|verdict| Transition::ReceiveReturn(Receipt { id, verdict })));
        changes
    }

    /// The start of the next payment, and whatever the provider may be seen to hold of the newest one.
    fn payments(&self, whole: &WholeOrder, card: &CardPayment) -> Vec<Transition<'_>> {
        let newest = card.provider.as_ref();
        let intent = |attempt: u32| &self.intents[usize::from(attempt > 1)];
        let newest_attempt = newest.map_or(1, |provider| provider.attempt);
        let asked = newest.map_or(card.wanted(), |provider| provider.amount.unwrap_or(card.amount.amount()));
        let captured = newest.map(|provider| provider.held.captured).filter(|captured| *captured > 0);
        let captured = captured.unwrap_or(card.wanted());
        let of = |refunded, failed, disputed, dispute| Held {
            progress: Progress::Captured,
            captured,
            refunded,
            failed,
            disputed,
            dispute,
        };
        let owed = captured - card.wanted();
        let ended = if whole.order.status == OrderStatus::Pending { Progress::Released } else { Progress::Ended };
        let others = [Progress::Started, Progress::Declined, Progress::Authorized, ended].map(Held::of);
        let charged = [
            of(0, 0, 0, None),
            of(owed, 0, 0, None),
            of(captured, 0, 0, None),
            of(0, owed, 0, None),
            of(0, 0, captured, Some(Dispute::Open)),
            of(0, 0, captured, Some(Dispute::Lost)),
            of(0, 0, 0, Some(Dispute::Won)),
        ];
        let number = newest.map_or(0, |provider| provider.refund);
        // Troubles ask the same of an order with units that went or came back.
        let is_plain = whole.shipments.is_empty() && whole.returns.is_empty() && whole.order.credits.is_empty();
        let charged = charged.into_iter().filter(|held| is_plain || held.failed == 0 && held.dispute.is_none());
        let looks = others.into_iter().chain(charged).map(|held| Transition::ObservePayment {
            intent: intent(newest_attempt),
            amount: Money::nearest(asked, card.amount.currency()),
            held,
            newest_refund: number,
        });
        let failures = card
            .command()
            .into_iter()
            .flat_map(|command| [None, Some("charge_disputed")].map(|code| Transition::FailCommand { command, code }));
        let attempt = card.next_attempt().unwrap_or(newest_attempt);
        let start = Transition::StartPayment { intent: intent(attempt), attempt, amount: card.asked() };
        looks.chain(failures).chain([start]).collect()
    }
}

/// Whether money went away without the shop, or a refund failed.
fn is_troubled(card: &CardPayment) -> bool {
    let held = card.held();
    held.failed > 0 || held.dispute.is_some() || card.written_off > 0 || (card.received() > 0 && card.missing() > 0)
}

/// What decides about the changes of an order. Orders that are alike in it are not told from each other.
fn state(whole: &WholeOrder) -> String {
    let WholeOrder { order, invoice, returns, shipments, .. } = whole;
    let payments: Vec<_> = invoice.payments.iter().map(|payment| (payment.state(), payment.credited() > 0)).collect();
    let card = invoice.card().map(|card| {
        let provider = card.provider.as_ref();
        // An order whose payment was released is not pending: from then on, it does not matter why an intent ended.
        let progress = |own: &ProviderPayment| if own.has_ended() { Progress::Ended } else { own.held.progress };
        let provider = provider.map(|own| (progress(own), own.held.kept() > 0, own.is_disputed()));
        let asked = card.provider.as_ref().map(|own| (own.capture_requested, own.refunding > 0, own.refused.is_some()));
        let known = (card.transfer.is_some(), card.next_attempt().is_some(), card.written_off > 0);
        (provider, asked, known, card.work(), card.missing() > 0)
    });
    let credits: Vec<_> = order.credits.iter().map(|credit| credit.units).collect();
    let returns: Vec<_> = returns.iter().map(|own| (own.status, own.lines[0].quantity)).collect();
    let shipments: Vec<_> = shipments.iter().map(|own| (own.delivered_at.is_some(), own.all_left)).collect();
    format!("{:?}", (order.status, order.is_held_by_guest(), credits, returns, shipments, payments, card))
}

/// The accesses of each change.
fn all() -> BTreeMap<String, BTreeSet<String>> {
    let mut all: HashMap<_, (String, BTreeSet<String>)> = HashMap::new();
    // Two units at 100, paid by card, by both, so that the credit of one is all of the card's part, by gift card, and free.
    // A guest holds the units of an unpaid order, and has a code of its own.
    let (ada, guest) = ("ada", "guest-Ra6R_2Byc4d006tbo7O0JSutVe0dwAQR6COsrNPu_Og");
    let of_whom = [(200, 0, ada), (200, 100, ada), (200, 200, ada), (0, 0, ada), (200, 0, guest), (200, 100, guest)];
    let placed = of_whom.map(|(total, by_gift_card, customer)| {
        let mut whole = sold(&[(2, 100)], total, &[by_gift_card]);
        whole.order.customer_id = customer.parse().expect("an id");
        whole.order.codes = vec![CodeUse { code: "TEN".parse().expect("a code"), amount: eur(0), counted: true }];
        (whole, false)
    });
    let names = Names::of(&placed[0].0.order.order_id);
    let (mut open, mut seen) = (Vec::from(placed), BTreeSet::new());
    while let Some((whole, is_torn)) = open.pop() {
        if !seen.insert((state(&whole), is_torn)) {
            continue;
        }
        for change in names.changes(&whole) {
            let (_, found) = all.entry(discriminant(&change)).or_insert_with(|| (name(change), BTreeSet::new()));
            found.extend(accesses(change, &whole));
            // An allowance asks no more of the changes after it than credited units.
            if matches!(change, Transition::Allow(_)) {
                continue;
            }
            let Step::To(next) = change.of(&whole, at(6)) else { continue };
            if !is_torn {
                assert!(next.has_all_parts(), "{change:?} leaves other statuses on the header of {next:?}");
                // A Query that the change overtakes: the header is from after it and the rest from before, or the invoice
                // is. The write then fails by its conditions, and not by the role.
                let header = WholeOrder { order: next.order.clone(), ..whole.clone() };
                let invoice = WholeOrder { invoice: next.invoice.clone(), ..whole.clone() };
                if !next.invoice.card().is_some_and(is_troubled) {
                    open.extend([(header, true), (invoice, true)]);
                }
                open.push((*next, false));
            }
        }
    }
    all.into_values().collect()
}

/// The text of the file with these lists.
fn text(all: &BTreeMap<String, BTreeSet<String>>) -> String {
    let entity = |access: &String| Some(access.split_once('<')?.1.split_once('>')?.0.to_owned());
    let of_entities = all.values().flatten().filter(|access| !access.starts_with("query"));
    let entities = Vec::from_iter(of_entities.filter_map(entity).collect::<BTreeSet<_>>()).join(", ");
    let lists = all.iter().map(|(name, accesses)| {
        let is_alone = |access: &&String| access.strip_suffix(TOGETHER).is_none_or(|one| !accesses.contains(one));
        let mut ways: [BTreeMap<&str, Vec<&str>>; 2] = Default::default();
        for access in accesses.iter().filter(is_alone) {
            let Some((verb, item)) = access.split_once("::<") else { continue };
            let item = item.split('>').next().unwrap_or_default();
            ways[usize::from(access.ends_with(TOGETHER))].entry(verb).or_default().push(item);
        }
        let verb = |(verb, items): (&&str, &Vec<&str>)| format!(" {verb}({})", items.join(" "));
        let [alone, together] = ways.map(|verbs| verbs.iter().map(verb).collect::<String>());
        format!("\n    {name} = {} {{\n       {alone};\n       {together}\n    }}", list(name))
    });
    format!(
        "//! What each change of an order asks of the table, in any state: written by `cargo renew`.\n\n\
         use key_schema::access::Access;\nuse key_schema::entity::{{{entities}}};\nuse key_schema::layout::ORDER_BY_ID;\n\n\
         changes! {{{}\n}}\n",
        lists.collect::<Vec<_>>().concat()
    )
}

#[test]
fn the_lists_are_what_every_change_does_in_every_state() {
    let text = text(&all());
    if docs_check::is_written() {
        return fs::write(FILE, text).expect("the file is writable");
    }
    let (is, said) = (declared(&text), declared(&fs::read_to_string(FILE).expect("a text")));
    let [more, idle]: [Vec<_>; 2] = [is.difference(&said).collect(), said.difference(&is).collect()];
    assert!(
        more.is_empty() && idle.is_empty(),
        "not declared: {more:#?}\nnot needed: {idle:#?}\ncargo renew writes the lists"
    );
}
