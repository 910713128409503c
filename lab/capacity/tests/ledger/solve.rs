//! From what was recorded with several sizes follows how each number depends on the sizes.

use std::cmp::Reverse;

use capacity::ledger::{Many, Operation, Several};
use sample_items::SampleSizes;

use super::form::{Part, Requests};
use super::metered_shop::{Book, Recorded};

/// The operation of this function and this case, from each of the shops in which it was recorded.
///
/// The requests are those of the shop that makes most different ones, with most different parts: in a shop of small sizes
/// some are left out. To these come requests of a form that only other shops make.
pub fn operation(function: &str, case: &str, books: &[(SampleSizes, Book)]) -> Operation {
    let name = (function.to_owned(), case.to_owned());
    let runs: Vec<(SampleSizes, &[Requests])> = books
        .iter()
        .filter_map(|(sizes, book)| book.get(&name).map(|Recorded { requests, .. }| (*sizes, requests.as_slice())))
        .collect();
    let different = |requests: &[Requests]| -> (usize, usize) {
        (requests.len(), requests.iter().map(|request| request.parts.len()).sum())
    };
    let mut by_variety: Vec<_> = runs.iter().map(|(_, requests)| *requests).collect();
    by_variety.sort_by_key(|requests| Reverse(different(requests)));
    let mut all: Vec<&Requests> = by_variety.first().into_iter().copied().flatten().collect();
    for (at, request) in by_variety.into_iter().skip(1).flat_map(|requests| requests.iter().enumerate()) {
        if all.iter().all(|known| known.form.name() != request.form.name()) {
            all.insert(at.min(all.len()), request);
        }
    }
    let requests = all.into_iter().map(|model| {
        let alike: Vec<_> = runs.iter().map(|(sizes, requests)| (*sizes, like(model, requests))).collect();
        let times = alike.iter().map(|(sizes, found)| (*sizes, found.map_or(0, |found| found.times)));
        let parts = model.parts.iter().map(|(part, _)| {
            let found = alike.iter().filter_map(|(sizes, found)| Some((*sizes, count(*part, (*found)?))));
            Several { many: fit(found, &format!("{function}: {case}: {part:?}")), of: *part }
        });
        let of = Requests::request(model.form, &parts.collect::<Vec<_>>());
        Several { many: fit(times, &format!("{function}: {case}: {}", model.form.name())), of }
    });
    Operation { function: name.0.clone(), case: name.1.clone(), requests: requests.collect() }
}

fn count(part: Part, requests: &Requests) -> u32 {
    requests.parts.iter().find(|(known, _)| *known == part).map_or(0, |(_, times)| *times)
}

/// The requests of another shop like these: with the same parts, or else with some of them.
fn like<'a>(model: &Requests, others: &'a [Requests]) -> Option<&'a Requests> {
    let has = |one: &Requests, other: &Requests| other.parts.iter().all(|(part, _)| count(*part, one) > 0);
    let mut of_form = others.iter().filter(|other| other.form.name() == model.form.name());
    of_form
        .clone()
        .find(|other| has(model, other) && has(other, model))
        .or_else(|| of_form.find(|other| has(model, other)))
}

fn fit(values: impl Iterator<Item = (SampleSizes, u32)>, what: &str) -> Many {
    let values: Vec<_> = values.collect();
    let counts: Vec<_> = values.iter().map(|(_, count)| count).collect();
    Many::fit(&values).unwrap_or_else(|| panic!("{what}: {counts:?} depends on no size: see SIZES"))
}
