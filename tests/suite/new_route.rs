//! A new route is one source file, one line in a list, and its test. So no other handwritten file names the routes that
//! there are.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use http_api::RouteFunction;
use local::functions::routes;

use crate::completeness::{has_extension, pascal_case, source_of};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Files that name routes because they test, measure or explain them, or because they are generated. The tests of the
/// laptop stack have templates of their own, with functions of these names.
const LEFT_OUT: [&str; 7] =
    ["tests/", "lab/", "docs/", "events/", "local/devstack/", "local/src/answers.json", "stacks/roles.yaml"];

/// Files and folders that name these routes for a reason of their own. Another route needs no line in them.
const ALLOWED: &[(&str, &str)] = &[
    // Constraints that a description of an API cannot express.
    (
        ".ci/contract/schemathesis.toml",
        "adjust-stock cancel-guest-order cancel-order capture-payment create-discount create-gift-card \
         create-product credit-order export-customer find-customer list-invoice-payments place-guest-order \
         place-order put-addresses put-cart put-shipping put-taxes quote-basket quote-guest-basket \
         quote-guest-discount receive-payment-event receive-return request-guest-return request-return search-products ship-items \
         update-discount update-product",
    ),
    // Their sample events are refused there; one is called with another tool, too.
    (
        ".ci/function-smoke",
        "confirm-image confirm-refund erase-customer deliver-shipment get-product receive-payment-event receive-return \
         request-guest-return request-return ship-items start-guest-payment start-payment",
    ),
    // The function that is deployed alone, and the one that a stack without search refuses.
    (".ci/third_party/checks.py", "get-product search-products"),
    // The order in which a deployment replaces functions.
    (
        "functions/writes/src/place_order.rs",
        "list-open-returns list-orders list-payments-due list-product-orders quote-basket",
    ),
    // They refuse the same baskets.
    ("functions/writes/src/quote_basket.rs", "place-order"),
    ("functions/writes/src/quote_guest_basket.rs", "place-order quote-basket"),
    ("functions/writes/src/quote_guest_discount.rs", "quote-guest-basket"),
    // A guest's route runs the code of a customer's.
    ("functions/reads/src/get_guest_invoice_page.rs", "get-invoice-page"),
    ("functions/reads/src/get_guest_order.rs", "get-order"),
    ("functions/writes/src/cancel_guest_order.rs", "cancel-order"),
    ("functions/writes/src/place_guest_order.rs", "place-order"),
    ("functions/writes/src/request_guest_return.rs", "request-return"),
    ("functions/writes/src/start_guest_payment.rs", "start-payment"),
    ("functions/writes/src/record_view.rs", "get-product-stats"),
    ("functions/writes/src/record_views.rs", "get-product-stats"),
    // It does each entry of a batch by the route for one product.
    ("functions/writes/src/write_products.rs", "create-product update-product"),
    (
        "template.yaml",
        "list-open-returns list-orders list-payments-due list-product-orders place-guest-order place-order \
         receive-payment-event",
    ),
    // Alarms on orders that nobody counts, and on payments of another amount.
    ("stacks/operations.yaml", "place-guest-order place-order receive-payment-event"),
    // The shop's own words for its actions.
    (
        "shared/ordering/",
        "confirm-refund deliver-shipment receive-return request-return ship-items start-payment write-off",
    ),
    ("shared/payments/", "start-payment"),
    // Tests with one sample event.
    ("shared/http-api/", "get-product"),
];

/// The handwritten lines of code in the repository, by file: without comments and without what is generated.
fn handwritten() -> Vec<(String, String)> {
    let list = Command::new("git").args(["-C", ROOT, "ls-files"]).output().expect("git runs");
    let list = String::from_utf8(list.stdout).expect("a text");
    let files = list.lines().filter(|file| {
        let is_text = has_extension(file, "md") || has_extension(file, "txt");
        !is_text && !LEFT_OUT.iter().any(|folder| file.starts_with(folder))
    });
    let texts = files.filter_map(|file| Some((file.to_owned(), fs::read_to_string(Path::new(ROOT).join(file)).ok()?)));
    let handwritten: Vec<_> = texts.map(|(file, text)| (file, code_of(&text))).collect();
    assert!(handwritten.len() > 250, "only {} files were found", handwritten.len());
    handwritten
}

/// The text without comments and without the parts between the marks of generated text, `# <name>` and `# </name>`.
fn code_of(text: &str) -> String {
    let (mut code, mut is_generated) = (String::new(), false);
    for line in text.lines().map(str::trim) {
        if line.starts_with("# </") {
            is_generated = false;
        } else if line.starts_with("# <") {
            is_generated = true;
        } else if !is_generated && !line.starts_with("//") && !line.starts_with('#') {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// The words by which code can name the route: of its function, module and resources.
fn names_of(RouteFunction { function, .. }: &RouteFunction) -> [String; 4] {
    let (name, resource) = (function.name(), pascal_case(&function.name()));
    [name.replace('-', "_"), format!("{resource}Role"), resource, name]
}

fn words(code: &str) -> BTreeSet<&str> {
    code.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_' && letter != '-').collect()
}

#[test]
fn a_route_is_named_in_its_file_and_in_one_list() {
    let (mut listed, mut further, mut used) = (0, Vec::new(), BTreeSet::new());
    for (file, code) in handwritten() {
        let words = words(&code);
        for route in routes().filter(|route| names_of(route).iter().any(|name| words.contains(name.as_str()))) {
            let (name, program) = (route.function.name(), route.function.program);
            let mut allowed = ALLOWED
                .iter()
                .filter(|(place, names)| file.starts_with(place) && names.split(' ').any(|other| other == name));
            if file == format!("functions/{program}/src/lib.rs") {
                listed += 1;
            } else if let Some((place, _)) = allowed.next() {
                used.insert((*place, name));
            } else if !file.starts_with(source_of(&route.function).trim_end_matches(".rs")) {
                further.push(format!("{file}: {name}"));
            }
        }
    }
    assert_eq!(listed, routes().count(), "each route is in the list of its program");
    assert!(further.is_empty(), "these files name a route, so a new route would need a line in them: {further:#?}");
    let allowed = ALLOWED.iter().flat_map(|(place, names)| names.split(' ').map(|name| (*place, name.to_owned())));
    assert_eq!(used, allowed.collect(), "`ALLOWED` has no more than is needed");
}

/// The method and path of a route are in no table either. Its path alone is also that of other routes.
#[test]
fn no_code_lists_methods_and_paths() {
    for (file, code) in handwritten() {
        let listed = routes().map(|route| format!("\"{} {}\"", route.route.method.as_str(), route.route.path));
        let listed: Vec<_> = listed.filter(|listed| code.contains(listed)).collect();
        assert!(listed.is_empty(), "{file} lists {listed:?}");
    }
}
