//! Traffic that has favourites: a few things are asked for often, and most of them hardly ever.

use anyhow::{Result, anyhow};
use rand::SeedableRng;
use rand_distr::Distribution;

/// Where chance comes from. A named algorithm, so that a seed means the same next year.
pub(crate) type Random = rand::rngs::Xoshiro256PlusPlus;

/// The chance of this seed. Neighbouring seeds have nothing in common.
pub(crate) fn seeded(seed: u64) -> Random {
    Random::seed_from_u64(seed)
}

/// Ranks after Zipf's law: the r-th of them, from 0, comes in proportion to `1 / (r + 1)^exponent`.
///
/// A draw takes the same time however many ranks there are (rejection-inversion, W. Hörmann and G. Derflinger 1996).
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zipf {
    law: rand_distr::Zipf<f64>,
}

impl Zipf {
    /// Over so many ranks. With the exponent 0 all of them are alike, with 1 the first is twice as frequent as the
    /// second.
    ///
    /// # Errors
    /// There is no rank, or the exponent is negative.
    pub(crate) fn new(ranks: u32, exponent: f64) -> Result<Self> {
        let law = rand_distr::Zipf::new(f64::from(ranks), exponent);
        let law = law.map_err(|why| anyhow!("no Zipf law has {ranks} ranks and the exponent {exponent}: {why}"))?;
        Ok(Self { law })
    }

    /// A rank, from 0.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the law draws from 1 to a u32")]
    pub(crate) fn draw(&self, random: &mut Random) -> u32 {
        self.law.sample(random) as u32 - 1
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const DRAWS: u32 = 100_000;

    fn frequencies(ranks: u32, exponent: f64, seed: u64) -> Vec<f64> {
        let (zipf, mut random) = (Zipf::new(ranks, exponent).unwrap(), seeded(seed));
        let mut counts = vec![0_u32; ranks as usize];
        for _ in 0..DRAWS {
            counts[zipf.draw(&mut random) as usize] += 1;
        }
        counts.into_iter().map(|count| f64::from(count) / f64::from(DRAWS)).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]

        #[test]
        fn ranks_come_as_often_as_the_law_says(ranks in 1_u32..50, exponent in 0.0..2.5_f64, seed: u64) {
            let weights: Vec<f64> = (1..=ranks).map(|rank| f64::from(rank).powf(-exponent)).collect();
            let all: f64 = weights.iter().sum();
            for (found, weight) in frequencies(ranks, exponent, seed).into_iter().zip(weights) {
                let expected = weight / all;
                // Six standard deviations of a count: one test in ten million would fail by chance.
                let bound = 6.0 * (expected * (1.0 - expected) / f64::from(DRAWS)).sqrt() + 1e-12;
                prop_assert!((found - expected).abs() <= bound, "{found} instead of {expected}");
            }
        }

        #[test]
        fn every_draw_is_a_rank(ranks in 1_u32.., exponent in 0.0..5.0_f64, seed: u64) {
            let (zipf, mut random) = (Zipf::new(ranks, exponent).unwrap(), seeded(seed));
            for _ in 0..100 {
                prop_assert!(zipf.draw(&mut random) < ranks);
            }
        }
    }

    #[test]
    fn a_seed_says_what_is_drawn() {
        let drawn = |seed| {
            let (zipf, mut random) = (Zipf::new(1_000_000, 1.0).unwrap(), seeded(seed));
            (0..20).map(|_| zipf.draw(&mut random)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
    }

    #[test]
    fn no_law_is_without_ranks() {
        assert!(Zipf::new(0, 1.0).is_err());
        assert!(Zipf::new(1, -1.0).is_err());
    }
}
