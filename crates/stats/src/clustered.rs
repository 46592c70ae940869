/// How many of the claims about one thing hold. Claims about the same thing often hold or fail together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cluster {
    pub held: u32,
    pub claims: u32,
}

/// The share of claims that hold, with an interval.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    pub held: u32,
    pub claims: u32,
    pub clusters: u32,
    /// The interval from here to `high` contains the true share with a probability of 95 %.
    pub low: f64,
    pub high: f64,
}

/// The two-sided 95 % quantile of the normal distribution.
const DEVIATE: f64 = 1.96;
/// So many clusters are added in which all claims hold, and as many in which none does.
const ADDED: f64 = 2.0;

impl Share {
    /// The share of all claims, whose clusters are independent of each other. It is `None` without claims.
    ///
    /// The variance is that of a ratio of two sums over clusters (Cochran, *Sampling Techniques*, 1977, section 3.12). It
    /// is zero if all claims hold, as if that were certain. So the interval is that of Agresti and Coull (*Approximate Is
    /// Better than "Exact" for Interval Estimation of Binomial Proportions*, The American Statistician 1998): two
    /// successes and two failures are added, here as whole clusters of the average size.
    pub fn of(clusters: &[Cluster]) -> Option<Self> {
        let held: u32 = clusters.iter().map(|cluster| cluster.held).sum();
        let claims: u32 = clusters.iter().map(|cluster| cluster.claims).sum();
        if claims == 0 {
            return None;
        }
        let count = clusters.len() as f64;
        let average = f64::from(claims) / count;
        let all_claims = f64::from(claims) + 2.0 * ADDED * average;
        let center = (f64::from(held) + ADDED * average) / all_claims;
        let square = |held: f64, claims: f64| (held - center * claims).powi(2);
        let of_added = ADDED * (square(average, average) + square(0.0, average));
        let of_clusters: f64 = clusters
            .iter()
            .map(|cluster| square(f64::from(cluster.held), f64::from(cluster.claims)))
            .sum();
        let all_clusters = count + 2.0 * ADDED;
        let variance =
            all_clusters / (all_clusters - 1.0) * (of_clusters + of_added) / all_claims.powi(2);
        let reach = DEVIATE * variance.sqrt();
        Some(Self {
            held,
            claims,
            clusters: u32::try_from(clusters.len()).unwrap_or(u32::MAX),
            low: (center - reach).max(0.0),
            high: (center + reach).min(1.0),
        })
    }

    /// The share itself.
    pub fn value(&self) -> f64 {
        f64::from(self.held) / f64::from(self.claims)
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    fn cluster(held: u32, claims: u32) -> Cluster {
        Cluster { held, claims }
    }

    #[test]
    fn a_share_of_single_claims_has_the_interval_of_agresti_and_coull() {
        let share = Share::of(&[vec![cluster(1, 1); 8], vec![cluster(0, 1); 2]].concat()).unwrap();
        assert!((share.value() - 0.8).abs() < 1e-12);
        // (8 + 2) / (10 + 4) ± 1.96 √(p (1 - p) / (14 - 1))
        assert!((share.low - 0.4687).abs() < 1e-3, "{share:?}");
        assert!((share.high - 0.9598).abs() < 1e-3, "{share:?}");
        assert_eq!(Share::of(&[]), None);
        assert_eq!(Share::of(&[cluster(0, 0)]), None);
    }

    #[test]
    fn claims_that_fail_together_say_less_than_others() {
        let together =
            Share::of(&[vec![cluster(3, 3); 30], vec![cluster(0, 3); 8]].concat()).unwrap();
        let mixed =
            Share::of(&[vec![cluster(2, 3); 24], vec![cluster(3, 3); 14]].concat()).unwrap();
        assert_eq!((together.held, mixed.held), (90, 90));
        assert!(together.low < mixed.low - 0.03, "{together:?} {mixed:?}");
    }

    #[test]
    fn nothing_is_certain_if_all_claims_hold_and_less_if_one_fails() {
        let all = Share::of(&[cluster(3, 3); 38]).unwrap();
        let one_fails =
            Share::of(&[vec![cluster(3, 3); 37], vec![cluster(2, 3)]].concat()).unwrap();
        assert!(all.low > 0.87 && all.low < 0.93, "{all:?}");
        assert!(one_fails.low < all.low, "{one_fails:?}");
        assert!((all.high - 1.0).abs() < 1e-12);
    }

    /// Some things are easy, and the claims about them nearly always hold.
    #[test]
    fn the_interval_contains_the_true_share_in_95_percent_of_simulations() {
        const WORLDS: u32 = 2000;
        for (clusters, hard, of_hard) in [
            (12, 0.3, 0.3),
            (38, 0.2, 0.4),
            (38, 0.1, 0.5),
            (60, 0.05, 0.2),
        ] {
            let truth = hard * of_hard + (1.0 - hard) * 0.98;
            let mut random = Pcg64Mcg::seed_from_u64(1);
            let mut contained = 0;
            for _ in 0..WORLDS {
                let mut found = Vec::new();
                for _ in 0..clusters {
                    let chance = if random.random::<f64>() < hard {
                        of_hard
                    } else {
                        0.98
                    };
                    let held = (0..3).filter(|_| random.random::<f64>() < chance).count();
                    found.push(cluster(u32::try_from(held).unwrap(), 3));
                }
                let share = Share::of(&found).unwrap();
                contained += u32::from((share.low..=share.high).contains(&truth));
            }
            let coverage = f64::from(contained) / f64::from(WORLDS);
            assert!(coverage > 0.935, "{clusters} clusters: {coverage}");
        }
    }
}
