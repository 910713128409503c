//! Zipf's law: the share of the n-th most popular item is proportional to `1 / n^exponent`.

use anyhow::{Result, ensure};

/// Converts to a float. Exact below 2^53.
#[allow(clippy::cast_precision_loss, reason = "ranks are far below 2^53")]
fn as_float(number: usize) -> f64 {
    number as f64
}

/// A distribution over ranks, the most popular first.
pub(crate) struct Popularity {
    /// The share of all ranks up to and including each.
    cumulative: Vec<f64>,
}

impl Popularity {
    /// A distribution over this many ranks. An exponent of 1 is Zipf's own; with 0 all ranks are equal.
    ///
    /// # Errors
    /// There is no rank, or the exponent is negative or NaN.
    pub(crate) fn new(ranks: usize, exponent: f64) -> Result<Self> {
        ensure!(ranks > 0 && exponent >= 0.0, "no Zipf law has {ranks} ranks and the exponent {exponent}");
        let mut sum = 0.0;
        let mut cumulative: Vec<f64> = (1..=ranks)
            .map(|rank| {
                sum += as_float(rank).powf(-exponent);
                sum
            })
            .collect();
        for share in &mut cumulative {
            *share /= sum;
        }
        Ok(Self { cumulative })
    }

    /// The rank, counted from 0, for a number of `[0, 1)`.
    pub(crate) fn rank(&self, number: f64) -> usize {
        self.cumulative.partition_point(|share| *share <= number).min(self.cumulative.len().saturating_sub(1))
    }

    /// The number of ranks.
    pub(crate) fn len(&self) -> usize {
        self.cumulative.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    impl Popularity {
        /// The share of this rank, counted from 0.
        fn share(&self, rank: usize) -> f64 {
            let up_to = |rank: usize| self.cumulative.get(rank).copied().unwrap_or(1.0);
            up_to(rank) - if rank == 0 { 0.0 } else { up_to(rank - 1) }
        }
    }

    proptest! {
        #[test]
        fn shares_add_up_to_one_and_are_as_the_law_says(ranks in 1..500_usize, exponent in 0.0..5.0) {
            let popularity = Popularity::new(ranks, exponent).unwrap();
            let shares: Vec<_> = (0..ranks).map(|rank| popularity.share(rank)).collect();
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            for (rank, share) in shares.iter().enumerate() {
                prop_assert!((share - shares[0] * as_float(rank + 1).powf(-exponent)).abs() < 1e-9);
            }
        }

        #[test]
        fn a_number_falls_upon_the_rank_whose_share_holds_it(ranks in 1..500_usize, number in 0.0..1.0) {
            let popularity = Popularity::new(ranks, 1.0).unwrap();
            let rank = popularity.rank(number);
            let below: f64 = (0..rank).map(|rank| popularity.share(rank)).sum();
            prop_assert!(below <= number + 1e-9 && number < below + popularity.share(rank) + 1e-9);
        }
    }

    #[test]
    fn no_law_is_without_ranks_and_none_rises() {
        for (ranks, exponent) in [(0, 1.0), (1, -1.0), (1, f64::NAN)] {
            assert!(Popularity::new(ranks, exponent).is_err(), "{ranks} ranks, exponent {exponent}");
        }
        assert!((Popularity::new(2, f64::INFINITY).unwrap().share(0) - 1.0).abs() < 1e-9);
    }
}
