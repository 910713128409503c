//! The OpenAPI document of all routes.

use std::collections::BTreeMap;
use std::mem::take;

use key_schema::value::{Money, OrderId, ProductId};
use utoipa::openapi::content::ContentBuilder;
use utoipa::openapi::header::{Header, HeaderBuilder};
use utoipa::openapi::path::HttpMethod;
use utoipa::openapi::schema::{ComponentsBuilder, Object, ObjectBuilder, Schema, Type};
use utoipa::openapi::security::{Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::server::{Server, ServerBuilder, ServerVariableBuilder};
use utoipa::openapi::tag::TagBuilder;
use utoipa::openapi::{
    Info, InfoBuilder, LicenseBuilder, OpenApi, OpenApiBuilder, Paths, Ref, RefOr, Response, ResponseBuilder,
};
use utoipa::{PartialSchema as _, ToSchema};

use super::links::Links;
use super::{Description, examples, gateway};
use crate::json::{Code, Fault};
use crate::{Kind, Verb};

const OUTCOME: &str = "With 500 and 503. none: this request has written nothing, and will not. unknown: it may have \
    written something, or may do so later. In both cases, send the same request again.";

/// What the operations of each tag are for: the first part of their paths.
const TAGS: [(&str, &str); 19] = [
    (
        "products",
        "What the shop sells: entries of the catalogue, with their images and variants; for staff, also their stock.",
    ),
    ("categories", "The categories, each with the number of its products."),
    ("search", "Products by words, with filters and facets, if the shop has a search."),
    ("views", "What visitors looked at, for the statistics of products."),
    ("shipping", "The zones to which the shop ships, and what that costs."),
    ("taxes", "The rates of tax, by country and category."),
    ("customers", "A customer's profile, addresses, cart, and lists of what belongs to the customer."),
    (
        "guests",
        "Buying without an account: prices, orders, payments and returns of a guest, who has a secret instead of a token.",
    ),
    ("quotes", "What an order would cost."),
    ("orders", "Placing orders, and all that happens to them."),
    ("returns", "Returns that customers have requested, and what came back."),
    ("shipments", "Parcels on their way."),
    ("flagged-orders", "Orders that staff have to look at."),
    ("invoices", "Invoices, and the money that came in and went back."),
    ("payments-due", "Payments about which something has to be done."),
    ("payment-events", "The webhook of the payment provider."),
    ("discounts", "Discount codes."),
    ("gift-cards", "Gift cards, and what they hold."),
    ("totals", "Orders and turnover of each day."),
];

/// The OpenAPI document of an API that consists of these functions, each with its name.
pub fn open_api(functions: impl IntoIterator<Item = (String, Description)>) -> OpenApi {
    let mut paths = Paths::new();
    let mut components_by_name = BTreeMap::new();
    let components = ComponentsBuilder::new().security_scheme(
        "token",
        SecurityScheme::Http(Http::builder().scheme(HttpAuthScheme::Bearer).bearer_format("JWT").build()),
    );
    let functions: Vec<_> = functions.into_iter().collect();
    let links = Links::of(&functions);
    for (name, description) in functions {
        let gateway = gateway::statuses(&description);
        let Description { route, mut operation, answers, headers, schemas, problems } = description;
        for answer in answers {
            let mut response = ResponseBuilder::new().description(answer.what);
            if matches!(answer.status, "201" | "202") {
                for (operation, link) in links.of_answer(route, answer.body.as_ref(), &schemas) {
                    response = response.link(operation, RefOr::T(link));
                }
            }
            if let Some(schema) = answer.body {
                response = response.content(answer.media_type, ContentBuilder::new().schema(Some(schema)).build());
            }
            for name in answer.headers.iter().chain(&headers) {
                response = response.header(*name, text_header());
            }
            operation = operation.response(answer.status, response.build());
        }
        if route.method == Verb::Get {
            let response = ResponseBuilder::new().description("Not modified: the client has this answer");
            let response = headers.iter().fold(response, |response, name| response.header(*name, text_header()));
            operation = operation.response("304", response.build());
        }
        let mut by_status: BTreeMap<u16, Vec<&str>> = gateway.iter().map(|status| (*status, Vec::new())).collect();
        for kind in problems {
            by_status.entry(kind.status().as_u16()).or_default().push(kind.slug());
        }
        for (status, slugs) in by_status {
            operation = operation.response(status.to_string(), refusal(&slugs, gateway.contains(&status)));
        }
        let mut operation = operation.operation_id(Some(name)).build();
        examples::add(route, &mut operation);
        paths.add_path_operation(route.path, vec![http_method(route.method)], operation);
        for (name, mut schema) in schemas {
            describe_unions(&mut schema);
            // If two types had the same name, one of them would be described with the fields of the other.
            let known = components_by_name.entry(name.clone()).or_insert_with(|| schema.clone());
            debug_assert!(*known == schema, "two schemas are called {name}");
        }
    }
    OpenApiBuilder::new()
        .info(info())
        .servers(Some(servers()))
        .paths(paths)
        .tags(Some(TAGS.map(|(name, what)| TagBuilder::new().name(name).description(Some(what)).build())))
        .components(Some(
            components
                .schemas_from_iter(components_by_name)
                .schema("Problem", problem_schema())
                .schema(Fault::name(), Fault::schema())
                .schema(Code::name(), Code::schema())
                .schema(gateway::SCHEMA, gateway::schema())
                .build(),
        ))
        .build()
}

/// Moves the description of a property that may be null from the reference, which is one choice of a union, to the
/// union. Generators of clients ignore it beside a reference, or fail.
fn describe_unions(schema: &mut RefOr<Schema>) {
    match schema {
        RefOr::T(Schema::Object(object)) => object.properties.values_mut().for_each(describe_unions),
        RefOr::T(Schema::AllOf(parts)) => parts.items.iter_mut().for_each(describe_unions),
        RefOr::T(Schema::OneOf(union)) => {
            for choice in &mut union.items {
                match choice {
                    RefOr::Ref(reference) if !reference.description.is_empty() => {
                        union.description = Some(take(&mut reference.description));
                    }
                    choice => describe_unions(choice),
                }
            }
        }
        RefOr::T(_) | RefOr::Ref(_) => {}
    }
}

fn info() -> Info {
    let license = env!("CARGO_PKG_LICENSE");
    InfoBuilder::new()
        .title("Till")
        .version(env!("CARGO_PKG_VERSION"))
        .license(Some(LicenseBuilder::new().name(license).identifier(Some(license)).build()))
        .description(Some(
            "An order backend for a shop. Money is in minor units, times are in UTC, lists are paged with a cursor.\n\nAnswers and \
             events may grow: they get new members, and a text with `x-extensible-enum` other values than those. Clients ignore \
             what they do not know. An `enum` is complete, and only requests have one.",
        ))
        .build()
}

/// The server from which this document was read, and a deployment on AWS.
fn servers() -> [Server; 2] {
    let here = ServerBuilder::new().url("/").description(Some("The server of this document: the stack on a laptop"));
    let text = |default: &str| ServerVariableBuilder::new().default_value(default);
    let deployed = ServerBuilder::new()
        .url("https://{api}.execute-api.{region}.amazonaws.com")
        .description(Some("A deployment on AWS: the output ApiUrl of the CloudFormation stack"))
        .parameter("api", text("api"))
        .parameter("region", text("us-east-1"));
    [here.build(), deployed.build()]
}

/// A response with a problem of one of these kinds, or with a message of the gateway itself.
fn refusal(slugs: &[&str], by_gateway: bool) -> Response {
    let content = |schema| ContentBuilder::new().schema(Some(Ref::from_schema_name(schema))).build();
    let mut response = ResponseBuilder::new();
    if by_gateway {
        response = response.content("application/json", content(gateway::SCHEMA));
    }
    if slugs.is_empty() {
        return response.description("Refused by the gateway").build();
    }
    if [Kind::Throttled, Kind::NotPlaced].iter().any(|kind| slugs.contains(&kind.slug())) {
        response = response.header("Retry-After", text_header());
    }
    response.description(slugs.join(", ")).content("application/problem+json", content("Problem")).build()
}

fn text_header() -> Header {
    HeaderBuilder::new().schema(Some(ObjectBuilder::new().schema_type(Type::String))).build()
}

/// The members of problems beside those of RFC 9457. Each type of problem has few of them, and most have none.
#[derive(ToSchema)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "it is only described")]
struct Members {
    /// On the laptop, with refusals of the gateway: the text that API Gateway sends instead of a problem.
    message: String,
    /// With 500: the id of the request, for the shop's staff.
    request_id: String,
    /// With validation: the types, bounds and fields of the body that are wrong, all at once.
    #[schema(max_items = 100)]
    errors: Vec<Fault>,
    /// With card-number: the field, header or parameter.
    field: String,
    /// The order's line, from 0.
    line: u8,
    product_id: ProductId,
    product_ids: Vec<ProductId>,
    /// The units in stock.
    available: u64,
    /// The units that are left.
    left: u32,
    /// The units that wait for payment.
    open: u64,
    /// The most units that may wait for payment.
    allowed: u64,
    /// The new total.
    total: Money,
    /// What the bank card would pay.
    card_amount: Money,
    /// The amount that is left, or the right one.
    amount: Money,
    address_id: String,
    shipping_method: String,
    country: String,
    /// The version of the cart.
    cart: u64,
    /// The discount code or gift card.
    code: String,
    order_status: String,
    /// The orders that are not finished.
    orders: Vec<OrderId>,
    /// What is to be done about the payment first.
    work: String,
    /// The last day on which a return could be requested.
    last_day: String,
    /// The current version.
    version: u64,
}

fn problem_schema() -> Schema {
    let text = || ObjectBuilder::new().schema_type(Type::String);
    let types = Kind::ALL.iter().map(|kind| format!("/problems/{}", kind.slug()));
    let mut problem: Object = ObjectBuilder::new()
        .description(Some("A problem document (RFC 9457). Only some types have the members from outcome on."))
        .property("type", text().enum_values(Some(types)))
        .required("type")
        .property("title", text())
        .required("title")
        .property("status", ObjectBuilder::new().schema_type(Type::Integer))
        .required("status")
        .property("detail", text())
        .required("detail")
        .property("outcome", text().enum_values(Some(["none", "unknown"])).description(Some(OUTCOME)))
        .into();
    if let RefOr::T(Schema::Object(members)) = Members::schema() {
        problem.properties.extend(members.properties);
    }
    problem.into()
}

fn http_method(method: Verb) -> HttpMethod {
    match method {
        Verb::Delete => HttpMethod::Delete,
        Verb::Get => HttpMethod::Get,
        Verb::Patch => HttpMethod::Patch,
        Verb::Post => HttpMethod::Post,
        Verb::Put => HttpMethod::Put,
    }
}
