//! Searching: the request, and what is read of its answer.

use key_schema::entity::Availability;
use key_schema::value::{Category, Currency};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::{OpenSearch, Reply, SEARCHED, refused};
use crate::cursor::{self, Position};
use crate::{Error, Found, Listed, PriceRange, Query, Sort};

/// The ends of the ranges of prices, in minor units.
const PRICES: [i64; 6] = [0, 1000, 2500, 5000, 10_000, 25_000];

/// The most categories, and the most currencies, whose products are counted.
const MOST_BUCKETS: u16 = 100;

#[derive(Deserialize)]
struct Answer {
    hits: Hits,
    aggregations: Aggregations,
}

#[derive(Deserialize)]
struct Hits {
    total: Total,
    hits: Vec<Hit>,
}

#[derive(Deserialize)]
struct Total {
    value: u64,
}

#[derive(Deserialize)]
struct Hit {
    #[serde(rename = "_source")]
    source: Listed,
    sort: Value,
}

#[derive(Deserialize)]
struct Aggregations {
    categories: Filtered<Counted<Category>>,
    prices: Filtered<InCurrency>,
}

#[derive(Deserialize)]
struct Filtered<B> {
    of: Buckets<B>,
}

#[derive(Deserialize)]
struct Buckets<B> {
    buckets: Vec<B>,
}

#[derive(Deserialize)]
struct Counted<K> {
    key: K,
    doc_count: u64,
}

#[derive(Deserialize)]
struct InCurrency {
    key: Currency,
    of: Buckets<Range>,
}

#[derive(Deserialize)]
struct Range {
    doc_count: u64,
}

impl OpenSearch {
    pub(crate) async fn find(&self, query: &Query) -> Result<Found, Error> {
        let after = query.cursor.as_ref().map(|cursor| cursor::open(query, cursor)).transpose()?;
        let path = format!("/{SEARCHED}/_search");
        let answer = match self.try_call("POST", &path, Some(&request(query, after.as_ref()))).await? {
            Reply::Done(answer) => read::<Answer>(answer)?,
            Reply::Failed { status: 404, .. } => return Err(Error::NotBuilt),
            Reply::Failed { status, kind, reason } => return Err(refused(status, &kind, &reason)),
        };
        let mut hits = answer.hits.hits;
        let has_more = hits.len() > usize::from(query.limit);
        hits.truncate(query.limit.into());
        let next = match hits.last().filter(|_| has_more) {
            Some(last) => {
                let position = Position::read(&last.sort, query.sort);
                let position = position.ok_or_else(|| Error::Unreadable("a hit has other sort values".to_owned()))?;
                Some(cursor::seal(query, &position))
            }
            None => None,
        };
        Ok(Found {
            products: hits.into_iter().map(|hit| hit.source).collect(),
            next,
            total: answer.hits.total.value,
            categories: answer
                .aggregations
                .categories
                .of
                .buckets
                .into_iter()
                .map(|it| (it.key, it.doc_count))
                .collect(),
            prices: answer.aggregations.prices.of.buckets.into_iter().flat_map(prices).collect(),
        })
    }
}

fn read<T: DeserializeOwned>(answer: Value) -> Result<T, Error> {
    serde_json::from_value(answer).map_err(|error| Error::Unreadable(error.to_string()))
}

/// The body of a search. The filters come after the query, so that the facets can leave their own filter out: the facet of
/// categories counts products of all categories within the range of prices, and the other way round.
fn request(query: &Query, after: Option<&Position>) -> Value {
    let of_category: Vec<_> = query.category.iter().map(|category| term("category", category.as_str())).collect();
    let of_price = of_price(query);
    let wanted = [of_category.clone(), of_price.clone()].concat();
    let counted = json!({ "terms": { "field": "category", "size": MOST_BUCKETS } });
    let ranges: Vec<_> = ranges()
        .map(|(from, to)| match to {
            Some(to) => json!({ "from": from, "to": to }),
            None => json!({ "from": from }),
        })
        .collect();
    let priced = json!({
        "terms": { "field": "price.currency", "size": MOST_BUCKETS },
        "aggs": { "of": { "range": { "field": "price.amount", "ranges": ranges } } },
    });
    let sort = match query.sort {
        Sort::Relevance => json!({ "_score": "desc" }),
        Sort::PriceAsc => json!({ "price.amount": "asc" }),
        Sort::PriceDesc => json!({ "price.amount": "desc" }),
        Sort::Name => json!({ "words.order": "asc" }),
    };
    let mut unwanted = vec![json!({ "term": { "removed": true } })];
    if query.available {
        unwanted.push(json!({ "term": { "availability": Availability::SoldOut } }));
    }
    let mut request = json!({
        "size": u16::from(query.limit) + 1,
        "track_total_hits": true,
        "query": { "bool": { "must": words(query), "must_not": unwanted } },
        "post_filter": { "bool": { "filter": wanted } },
        "aggs": {
            "categories": { "filter": { "bool": { "filter": of_price } }, "aggs": { "of": counted } },
            "prices": { "filter": { "bool": { "filter": of_category } }, "aggs": { "of": priced } },
        },
        "sort": [sort, { "productId": "asc" }],
    });
    if let Some(after) = after {
        request["search_after"] = json!(after);
    }
    request
}

/// The conditions of the words. Each word must be in the product; a word of the name counts three times as much. The last
/// word may also be the beginning of a word of the name.
fn words(query: &Query) -> Vec<Value> {
    let Some((last, whole)) = query.words.as_slice().split_last() else { return vec![json!({ "match_all": {} })] };
    let is_in = |word: &String| {
        let fields = ["words.name^3", "words.all"];
        json!({ "multi_match": { "query": word, "fields": fields, "operator": "and" } })
    };
    let begins = json!({ "match_bool_prefix": { "words.name": { "query": last, "operator": "and" } } });
    let last = json!({ "bool": { "should": [is_in(last), begins], "minimum_should_match": 1 } });
    whole.iter().map(is_in).chain([last]).collect()
}

fn of_price(query: &Query) -> Vec<Value> {
    let mut filters: Vec<_> =
        query.currency.iter().map(|currency| term("price.currency", &currency.to_string())).collect();
    let mut range = json!({});
    for (end, value) in [("gte", query.from), ("lt", query.to)] {
        if let Some(value) = value {
            range[end] = json!(value);
        }
    }
    if query.from.is_some() || query.to.is_some() {
        filters.push(json!({ "range": { "price.amount": range } }));
    }
    filters
}

fn term(field: &str, value: &str) -> Value {
    json!({ "term": { field: value } })
}

fn ranges() -> impl Iterator<Item = (i64, Option<i64>)> {
    PRICES.into_iter().zip(PRICES.into_iter().skip(1).map(Some).chain([None]))
}

/// The ranges of a currency in which there are products.
fn prices(found: InCurrency) -> impl Iterator<Item = PriceRange> {
    let InCurrency { key: currency, of } = found;
    let all = ranges().zip(of.buckets);
    all.filter(|(_, range)| range.doc_count > 0).map(move |((from, to), range)| PriceRange {
        currency,
        from,
        to,
        products: range.doc_count,
    })
}
