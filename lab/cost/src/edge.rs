//! The requests that an edge answers without the API.

use rust_decimal::Decimal;
use rust_decimal::prelude::{FromPrimitive, ToPrimitive};

/// The pages that a function answers with, whose copies an edge keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pages {
    /// A page for each product, kept for `CacheSeconds`.
    Products,
    /// The pages of the catalogue's lists, kept for `ListCacheSeconds`.
    Lists,
}

/// How requests spread over pages.
#[derive(Debug, Clone, Copy)]
pub struct Popularity {
    /// The number of pages.
    pub pages: u32,
    /// The exponent of Zipf's law: the n-th most popular page has a share proportional to `1 / n^exponent`.
    pub exponent: f64,
}

impl Popularity {
    /// The shares of all requests, by rank.
    pub fn shares(self) -> Vec<f64> {
        let weights: Vec<f64> = (1..=self.pages).map(|rank| f64::from(rank).powf(-self.exponent)).collect();
        let sum: f64 = weights.iter().sum();
        weights.into_iter().map(|weight| weight / sum).collect()
    }

    /// The share of requests that a cache answers, if each copy is kept for this long.
    ///
    /// Requests for a page come at random, r a second. A copy is fetched by one request and then answers those of the
    /// next T seconds, r T on average. So of each 1 + r T requests, one reaches the API.
    pub fn hit_ratio(self, requests_a_second: f64, seconds: f64) -> f64 {
        let hits = self.shares().into_iter().map(|share| {
            let answered = share * requests_a_second * seconds;
            share * answered / (1.0 + answered)
        });
        hits.sum()
    }
}

/// The share of a month's requests that the edge answers, if they spread over so many caches.
pub(super) fn hits(popularity: Popularity, a_second: Decimal, caches: Decimal, seconds: Decimal) -> Decimal {
    let number = |value: Decimal| value.to_f64().unwrap_or_default();
    let ratio = popularity.hit_ratio(number(a_second / caches), number(seconds));
    Decimal::from_f64(ratio).unwrap_or_default().round_dp(6)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, SystemTime};

    use http::{Request, Response};
    use http_cache_semantics::CachePolicy;

    use super::*;

    /// The headers of the answers, as `tests/suite/caching.rs` finds them.
    fn answer(seconds: u32) -> Response<()> {
        let control = format!("public, max-age={seconds}, must-revalidate, stale-if-error=0");
        Response::builder().header("cache-control", control).header("vary", "Origin").body(()).unwrap()
    }

    /// Sends random requests to a cache by RFC 9111, and counts those that it answers.
    fn simulated(popularity: Popularity, a_second: f64, seconds: u32, requests: u32) -> f64 {
        let mut random = fastrand::Rng::with_seed(u64::from(seconds));
        let mut sum = 0.0;
        let cumulative: Vec<f64> = popularity
            .shares()
            .into_iter()
            .map(|share| {
                sum += share;
                sum
            })
            .collect();
        let request = Request::get("/").body(()).unwrap();
        let (mut now, mut copies, mut hits) = (SystemTime::now(), BTreeMap::<usize, CachePolicy>::new(), 0);
        for _ in 0..requests {
            now += Duration::from_secs_f64(-(1.0 - random.f64()).ln() / a_second);
            let number = random.f64();
            let page = cumulative.partition_point(|share| *share <= number);
            match copies.get(&page) {
                Some(copy) if copy.before_request(&request, now).satisfies_without_revalidation() => hits += 1,
                _ => {
                    let copy = CachePolicy::new_options(
                        &request,
                        &answer(seconds),
                        now,
                        http_cache_semantics::CacheOptions::default(),
                    );
                    copies.insert(page, copy);
                }
            }
        }
        f64::from(hits) / f64::from(requests)
    }

    #[test]
    fn a_cache_by_the_standard_answers_as_many_requests_as_the_formula_says() {
        for (pages, exponent, a_second, seconds) in
            [(10_000, 1.0, 11.4, 1), (10_000, 1.0, 11.4, 60), (500, 0.8, 3.8, 30)]
        {
            let popularity = Popularity { pages, exponent };
            let (simulated, computed) =
                (simulated(popularity, a_second, seconds, 200_000), popularity.hit_ratio(a_second, seconds.into()));
            // A simulation begins without copies, and so misses each page once more.
            assert!((simulated - computed).abs() < 0.02, "{popularity:?}, {seconds} s: {simulated} and {computed}");
        }
    }

    #[test]
    fn a_longer_life_and_more_requests_save_more_and_never_all() {
        let popularity = Popularity { pages: 1000, exponent: 1.0 };
        let mut last = 0.0;
        for seconds in [0.0, 1.0, 10.0, 100.0, 1000.0] {
            let ratio = popularity.hit_ratio(10.0, seconds);
            assert!((last..1.0).contains(&ratio), "{seconds}: {ratio}");
            assert!(popularity.hit_ratio(20.0, seconds) >= ratio);
            last = ratio;
        }
    }
}
