//! Zipf's law as shares: what is n-th in popularity has a share in proportion to `1 / n^exponent`. For whoever has to know
//! the shares, and not only to draw by them.

/// A distribution over ranks, the most popular first.
pub(crate) struct Popularity {
    /// The share of all ranks up to and including each.
    cumulative: Vec<f64>,
}

impl Popularity {
    /// Over so many ranks. An exponent of 1 is Zipf's own; of 0, all are alike.
    pub(crate) fn new(ranks: usize, exponent: f64) -> Self {
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
        Self { cumulative }
    }

    /// How much of everything is for this rank, counted from 0.
    pub(crate) fn share(&self, rank: usize) -> f64 {
        let up_to = |rank: usize| self.cumulative.get(rank).copied().unwrap_or(1.0);
        up_to(rank) - if rank == 0 { 0.0 } else { up_to(rank - 1) }
    }

    /// The rank, counted from 0, that a number of `[0, 1)` falls upon.
    pub(crate) fn rank(&self, number: f64) -> usize {
        self.cumulative.partition_point(|share| *share <= number).min(self.cumulative.len().saturating_sub(1))
    }

    /// How many ranks there are.
    pub(crate) fn len(&self) -> usize {
        self.cumulative.len()
    }
}

/// Exact below 2^53.
#[allow(clippy::cast_precision_loss, reason = "ranks and counts are far below 2^53")]
pub(crate) fn as_float(number: usize) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn shares_add_up_to_one_and_fall_with_the_rank(ranks in 1..500_usize, exponent in 0.0..2.0) {
            let popularity = Popularity::new(ranks, exponent);
            let shares: Vec<_> = (0..ranks).map(|rank| popularity.share(rank)).collect();
            prop_assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
            prop_assert!(shares.windows(2).all(|pair| pair[0] >= pair[1] - 1e-12));
        }

        #[test]
        fn a_number_falls_upon_the_rank_whose_share_holds_it(ranks in 1..500_usize, number in 0.0..1.0) {
            let popularity = Popularity::new(ranks, 1.0);
            let rank = popularity.rank(number);
            let below: f64 = (0..rank).map(|rank| popularity.share(rank)).sum();
            prop_assert!(below <= number + 1e-9 && number < below + popularity.share(rank) + 1e-9);
        }
    }
}
