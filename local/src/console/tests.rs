//! Tests of the pages over a stack with the demo shop: every link leads somewhere, every access pattern can be asked, and a
//! page of the table costs what it shows.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use key_schema::layout::{PATTERNS, PATTERNS_OF_FUNCTIONS};
use serde_json::json;

use super::*;
use crate::{demo, deployment, functions, options};

struct Desk {
    stack: Stack,
    client: reqwest::Client,
}

impl Desk {
    /// The demo shop with some orders more than a page of the table has, in the tables of this parameter.
    async fn open(tables: &str) -> Self {
        let mut deployment = deployment();
        deployment.parameters.insert("Tables".to_owned(), tables.to_owned());
        let template = Template::parse_for(include_str!("../../../template.yaml"), &deployment).unwrap();
        let console = Console::new(None);
        let options = devstack::Options { pages: console.router("http://127.0.0.1:1"), ..options(template) };
        let stack = Stack::start(options, functions::start_all).await.unwrap();
        console.show(&stack, Vec::new(), true).unwrap();
        demo::create(&stack).await.unwrap();
        let client = reqwest::Client::builder().no_proxy().build().unwrap();
        let desk = Self { stack, client };
        for number in 0..8 {
            let order = json!({ "lines": [{ "productId": "paper-filters", "quantity": 1 }, { "productId": "decaf-beans", "quantity": 1 }] });
            let token = desk.stack.token(demo::CUSTOMER, http_api::SHOP_SCOPE).unwrap();
            let request = desk.client.post(format!("{}/orders", desk.stack.url())).json(&order).bearer_auth(token);
            let answer = request.header("idempotency-key", format!("k{number}")).send().await.unwrap();
            assert_eq!(answer.status(), 201);
        }
        desk
    }

    async fn get(&self, path: &str) -> (u16, String) {
        let answer = self.client.get(format!("{}{path}", self.stack.url())).send().await.unwrap();
        (answer.status().as_u16(), answer.text().await.unwrap())
    }

    /// A page that is there.
    async fn page(&self, path: &str) -> String {
        let (status, page) = self.get(path).await;
        assert_eq!(status, 200, "{path}: {page}");
        page
    }
}

/// The values of an attribute of HTML, in the order of the page.
fn attributes<'a>(page: &'a str, name: &'a str) -> impl Iterator<Item = String> + 'a {
    let opening = format!(" {name}=\"");
    let values: Vec<_> = page.split(&*opening).skip(1).filter_map(|rest| rest.split('"').next()).collect();
    values.into_iter().map(|value| value.replace("&amp;", "&").replace("&quot;", "\"").replace("&gt;", ">"))
}

/// The number of items that a page shows, and the number that its request read.
fn shown_and_read(page: &str) -> (usize, usize) {
    let read: usize = attributes(page, "data-read").map(|read| read.parse::<usize>().unwrap()).sum();
    (page.matches("<li class=\"k-").count(), read)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_link_leads_to_a_page_and_a_page_of_the_table_reads_no_more_items_than_it_shows() {
    let desk = Desk::open("v1").await;
    let (mut waiting, mut seen) = (VecDeque::from(["/".to_owned()]), BTreeSet::new());
    while let Some(path) = waiting.pop_front() {
        if !seen.insert(path.clone()) {
            continue;
        }
        let page = desk.page(&path).await;
        if path.starts_with("/_local/table") {
            let (shown, read) = shown_and_read(&page);
            assert_eq!(shown, read, "{path}");
            assert!(shown <= 100, "{path} shows {shown} items");
        }
        let links = attributes(&page, "href").filter(|link| link.starts_with('/'));
        waiting.extend(links.filter(|link| !seen.contains(link)));
    }
    assert!(seen.len() > 150, "{} pages are linked", seen.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_pages_of_the_table_have_every_item_once() {
    let desk = Desk::open("v1").await;
    let dynamodb = Service::dynamodb(desk.stack.dynamodb_url()).unwrap();
    let scan = json!({ "TableName": desk.stack.template().table_name(), "Select": "COUNT" });
    let count = async || dynamodb.succeed("Scan", &scan).await.unwrap()["Count"].as_u64().unwrap();
    let before = count().await;
    let (mut pages, mut shown, mut next) = (0, 0, Some("/_local/table".to_owned()));
    while let Some(path) = next {
        let page = desk.page(&path).await;
        pages += 1;
        shown += shown_and_read(&page).0 as u64;
        next = attributes(&page, "href").find(|link| link.contains("after="));
    }
    // Consumers of the stream may write counters meanwhile.
    let after = count().await;
    assert!(
        pages > 1 && (before..=after).contains(&shown),
        "{shown} on {pages} pages, {before} to {after} in the table"
    );
}

/// What the forms cannot know: ids that the stack has chosen.
async fn ids(desk: &Desk) -> BTreeMap<&'static str, String> {
    let orders = desk.page("/_local/table/patterns/11?customerId=ada").await;
    let order =
        attributes(&orders, "href").find_map(|link| Some(link.split_once("partition=o%23")?.1.to_owned())).unwrap();
    let orders = desk.page("/_local/table/patterns/11?customerId=ada&placedAt.from=2020&placedAt.to=9999").await;
    assert!(orders.contains(&order), "a range of all times has every order");
    BTreeMap::from([("invoiceId", format!("inv-{order}")), ("orderId", order), ("group", "customers".to_owned())])
}

#[tokio::test(flavor = "multi_thread")]
async fn every_access_pattern_has_a_form_that_is_answered_in_each_layout() {
    for tables in ["v1", "v2"] {
        let desk = Desk::open(tables).await;
        let page = desk.page("/_local/table/patterns").await;
        let mut forms = 0;
        let mut found = 0;
        let orders = if tables == "v1" { ids(&desk).await } else { BTreeMap::new() };
        for form in page.split("<form").skip(1) {
            let form = form.split("</form>").next().unwrap();
            let action = attributes(form, "action").next().unwrap();
            let fields = form.split("<input").skip(1).map(|input| {
                let name = attributes(input, "name").next().unwrap();
                let value = attributes(input, "value").next().unwrap_or_default();
                let value = if value.is_empty() { orders.get(&*name).cloned().unwrap_or_default() } else { value };
                (name.clone(), if value.is_empty() && !name.contains('.') { "none".to_owned() } else { value })
            });
            let fields: Vec<_> = fields.collect();
            let fields: Vec<_> = fields.iter().map(|(name, value)| (&**name, &**value)).collect();
            let status = if form.contains("name=\"status\"") { &[("status", "PENDING")][..] } else { &[] };
            let page = desk.page(&table::link(&action, &[status, &fields].concat())).await;
            let (shown, read) = shown_and_read(&page);
            assert_eq!(shown, read, "{action}");
            forms += 1;
            found += usize::from(shown > 0);
        }
        assert_eq!(forms, PATTERNS.len() + PATTERNS_OF_FUNCTIONS.len());
        assert!(found >= 14, "{tables}: only {found} patterns found something");
        desk.stack.shutdown().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_does_not_exist_or_is_malformed_is_a_page_that_says_so() {
    let desk = Desk::open("v1").await;
    for (path, status, why) in [
        ("/_local/table?index=GSI9", 404, "no index"),
        ("/_local/table?table=other", 404, "no table"),
        ("/_local/table?partition=nothing", 404, "No entity has the partition key"),
        ("/_local/table?partition=c%23nobody", 404, "No item has the partition key"),
        ("/_local/table?index=GSI1&partition=c%23ada", 404, "No entity"),
        ("/_local/table?after=x", 400, "not the key"),
        ("/_local/table?after=%7B%22PK%22%3A%7B%22S%22%3A%22c%23ada%22%7D%7D", 400, "refused"),
        ("/_local/table?partition=c%23ada&op=between&sort=b&to=a", 400, "ends before it begins"),
        ("/_local/table?partition=c%23ada&op=contains&sort=b", 400, "No condition"),
        ("/_local/table?partition=c%23ada&op=eq", 400, "Say which sort key"),
        ("/_local/table/patterns/99", 404, "no access pattern"),
        ("/_local/table/patterns/1?customerId=a%23b", 400, "no part of a key"),
        ("/_local/table/patterns/11?customerId=ada&placedAt.from=2&placedAt.to=1", 400, "ends before it begins"),
        ("/problems/none", 404, "No problem"),
        ("/_local/api/none.js", 404, "no such file"),
    ] {
        let (got, page) = desk.get(path).await;
        assert_eq!(got, status, "{path}");
        assert!(page.contains("<nav") && page.contains(why), "{path}: {page}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_is_listed_and_its_page_tells_what_it_did_and_what_followed() {
    let desk = Desk::open("v1").await;
    desk.stack.settle_streams(devstack::wait::PATIENCE).await.unwrap();
    let newest = desk.stack.stories().newest(100);
    let order = newest.iter().find(|story| story.path == "/orders").unwrap();
    let list = desk.page("/_local/console/requests").await;
    let page = desk.page(&format!("/_local/console/requests/{}", order.id)).await;
    assert!(attributes(&list, "href").any(|link| link == format!("/_local/console/requests/{}", order.id)));
    let row = desk.page(&format!("/_local/console/requests/{}?row=1", order.id)).await;
    assert!(row.starts_with("<tr") && list.contains(&row), "a row of its own is that of the list");
    assert_eq!(attributes(&row, "data-told").next(), Some(json!(order).to_string()), "as the live route sends it");
    let usd = order.units.usd_per_million.unwrap() + order.units_of_what_followed.usd_per_million.unwrap();
    for told in ["TransactWriteItems", "CountOrders", "PublishOrderEvents", "OrderPlaced", &format!("{usd:.2} USD")] {
        assert!(page.contains(told), "{told}: {page}");
    }
    assert_eq!(desk.get("/_local/console/requests/none").await.0, 404);
}
