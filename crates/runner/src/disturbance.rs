use writebench_model::{DisturbedBy, Sample};
use writebench_stats::as_f64;

/// A sample is disturbed by one of these: the probe before it took more than 1.5 times the median of the
/// run's probes. The hypervisor took more than a tenth of its time, or the control group's limit did. Heat
/// slowed a CPU down. The kernel returned free memory of more than a tenth of its bytes to the hypervisor.
///
/// Steal time is counted in clock ticks of 10 ms, so less than three of them do not count. Memory is
/// returned every two seconds. Samples of half that length or more can hardly escape, and are not judged by
/// it.
#[derive(Debug, Clone, Default)]
pub struct Disturbance {
    // Sorted, because a run has a hundred thousand and needs their median.
    probes_ns: Vec<u64>,
}

impl Disturbance {
    /// A probe that takes so many times the usual time was disturbed.
    pub const SLOW_PROBE: f64 = 1.5;
    /// A sample is disturbed if the hypervisor took this share of its time.
    pub const STEAL: f64 = 0.1;
    const STEAL_LEAST_NS: u64 = 30_000_000;
    /// A sample is disturbed if free memory of this share of its bytes was returned to the hypervisor.
    pub const GIVEN_BACK: f64 = 0.1;
    const GIVEN_BACK_LONGEST_NS: u64 = 1_000_000_000;

    pub fn from_probes(mut probes_ns: Vec<u64>) -> Self {
        probes_ns.retain(|&probe| probe > 0);
        probes_ns.sort_unstable();
        Self { probes_ns }
    }

    fn learn(&mut self, probes_ns: [u64; 2]) {
        for probe_ns in probes_ns.into_iter().filter(|&probe| probe > 0) {
            let place = self.probes_ns.partition_point(|&other| other <= probe_ns);
            self.probes_ns.insert(place, probe_ns);
        }
    }

    fn normal_ns(&self) -> Option<f64> {
        let middle = self.probes_ns.len() / 2;
        let upper = *self.probes_ns.get(middle)?;
        let lower = if self.probes_ns.len() % 2 == 1 {
            upper
        } else {
            self.probes_ns[middle - 1]
        };
        Some(f64::midpoint(as_f64(lower), as_f64(upper)))
    }

    /// A sample that waits for a disk is hardly slower when copies in memory are: at a load of 2 to 5, samples of
    /// three durable goals with slow probes had medians 1 to 8 % higher than the others, and the same spread.
    pub fn judge(&mut self, sample: &Sample, is_durable: bool) -> Option<String> {
        self.learn(sample.probe_ns);
        let share = |time_ns: u64| as_f64(time_ns) / as_f64(sample.phases_ns.total().max(1));
        let stolen = share(sample.steal_ns);
        let held_up = share(sample.system_state.throttled_ns.unwrap_or(0));
        // The cause is the larger share.
        if sample.steal_ns >= Self::STEAL_LEAST_NS && stolen > Self::STEAL.max(held_up) {
            let took = DisturbedBy::Hypervisor.words();
            return Some(format!(
                "{took} {:.0} % of the time of a CPU",
                stolen * 100.0
            ));
        }
        if held_up > Self::STEAL {
            let by_limit = DisturbedBy::CpuLimit.words();
            return Some(format!(
                "delayed for {:.0} % of its time {by_limit}",
                held_up * 100.0
            ));
        }
        if let Some(throttles) = sample
            .system_state
            .thermal_throttles
            .filter(|&times| times > 0)
        {
            return Some(format!(
                "CPUs slowed down {throttles} times {}",
                DisturbedBy::Heat.words()
            ));
        }
        let given_back_bytes = as_f64(sample.system_state.returned_memory_bytes.unwrap_or(0));
        let is_short = sample.phases_ns.total() < Self::GIVEN_BACK_LONGEST_NS;
        if is_short && given_back_bytes > Self::GIVEN_BACK * as_f64(sample.bytes) {
            let given_back_mib = given_back_bytes / 1_048_576.0;
            let returned = DisturbedBy::ReturnedMemory.words();
            return Some(format!("{given_back_mib:.0} MiB of free memory {returned}"));
        }
        if is_durable {
            return None;
        }
        // The other causes also explain a slow copy.
        let normal_ns = self.normal_ns()?;
        let slower_ns = as_f64(sample.probe_ns[0].max(sample.probe_ns[1]));
        (slower_ns > Self::SLOW_PROBE * normal_ns).then(|| {
            format!(
                "memory copy {:.1} times {}",
                slower_ns / normal_ns,
                DisturbedBy::SlowMemory.words()
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use writebench_model::Outcome;

    fn sample(probe_ns: [u64; 2], steal_ns: u64, write_ns: u64) -> Sample {
        let mut sample = Sample::without_figures(0, Outcome::Ok);
        sample.phases_ns.write = write_ns;
        Sample {
            probe_ns,
            steal_ns,
            ..sample
        }
    }

    #[test]
    fn slow_memory_disturbs_no_sample_that_waits_for_a_disk() {
        let mut rule = Disturbance::from_probes(vec![1000; 9]);
        assert_eq!(rule.judge(&sample([1000, 5000], 0, 1), true), None);
        assert!(rule.judge(&sample([1000, 5000], 0, 1), false).is_some());
        assert!(
            rule.judge(&sample([1000; 2], 400_000_000, 1_000_000_000), true)
                .is_some(),
            "it had no CPU"
        );
    }

    #[test]
    fn a_slow_copy_on_either_side_marks_a_sample() {
        let mut rule = Disturbance::from_probes(vec![1000; 15]);
        assert_eq!(rule.judge(&sample([1000, 1400], 0, 1), false), None);
        assert!(rule.judge(&sample([1600, 1000], 0, 1), false).is_some());
        assert!(rule.judge(&sample([1000, 1600], 0, 1), false).is_some());
    }

    #[test]
    fn much_stolen_time_marks_a_sample() {
        let mut rule = Disturbance::from_probes(vec![1000; 15]);
        assert_eq!(
            rule.judge(&sample([1000; 2], 20_000_000, 50_000_000), false),
            None,
            "two ticks say nothing"
        );
        assert_eq!(
            rule.judge(&sample([1000; 2], 40_000_000, 1_000_000_000), false),
            None,
            "4 %"
        );
        let reason = rule
            .judge(&sample([1000; 2], 400_000_000, 1_000_000_000), false)
            .unwrap();
        assert_eq!(reason, "hypervisor took 40 % of the time of a CPU");
    }

    #[test]
    fn a_limit_on_the_group_or_heat_marks_a_sample() {
        let mut rule = Disturbance::from_probes(vec![1000; 15]);
        let with = |throttled_ns, thermal_throttles| {
            let mut sample = sample([1000; 2], 0, 1_000_000);
            (
                sample.system_state.throttled_ns,
                sample.system_state.thermal_throttles,
            ) = (throttled_ns, thermal_throttles);
            sample
        };
        assert_eq!(rule.judge(&with(Some(50_000), Some(0)), false), None, "5 %");
        let reason = rule.judge(&with(Some(250_000), None), false).unwrap();
        assert_eq!(
            reason,
            "delayed for 25 % of its time by its group's CPU limit"
        );
        assert_eq!(
            rule.judge(&with(None, Some(3)), false).unwrap(),
            "CPUs slowed down 3 times because of heat"
        );
    }

    #[test]
    fn returned_memory_marks_only_short_samples() {
        let mut rule = Disturbance::from_probes(vec![1000; 15]);
        let with = |given_back_bytes, write_ns| {
            let mut sample = sample([1000; 2], 0, write_ns);
            (sample.bytes, sample.system_state.returned_memory_bytes) =
                (100 << 20, given_back_bytes);
            sample
        };
        let short = 100_000_000;
        let long = 1_500_000_000;
        assert_eq!(rule.judge(&with(None, short), false), None, "not counted");
        assert_eq!(rule.judge(&with(Some(8 << 20), short), false), None, "8 %");
        assert_eq!(
            rule.judge(&with(Some(90 << 20), long), false),
            None,
            "a long sample"
        );
        let reason = rule.judge(&with(Some(90 << 20), short), false).unwrap();
        assert_eq!(reason, "90 MiB of free memory returned to the hypervisor");
    }

    #[test]
    fn the_cause_of_the_longer_delay_is_named() {
        let mut rule = Disturbance::from_probes(vec![1000; 15]);
        let reason = |rule: &mut Disturbance, steal_ns, throttled_ns| {
            let mut sample = sample([1000; 2], steal_ns, 1_000_000_000);
            sample.system_state.throttled_ns = Some(throttled_ns);
            rule.judge(&sample, false).unwrap()
        };
        assert!(
            reason(&mut rule, 160_000_000, 900_000_000)
                .contains("90 % of its time by its group's CPU limit")
        );
        assert!(reason(&mut rule, 900_000_000, 160_000_000).contains("hypervisor took 90 %"));
    }

    #[test]
    fn the_usual_time_is_the_median_of_all_probes() {
        let mut rule = Disturbance::from_probes(vec![30, 0, 10]);
        assert_eq!(rule.normal_ns(), Some(20.0));
        for (probes_ns, median) in [
            ([40, 0], 30.0),
            ([20, 5], 20.0),
            ([10, 10], 10.0),
            ([99, 99], 20.0),
        ] {
            rule.learn(probes_ns);
            let as_f64: Vec<f64> = rule
                .probes_ns
                .iter()
                .map(|&probe| f64::from(u32::try_from(probe).unwrap()))
                .collect();
            assert_eq!(
                (rule.normal_ns(), writebench_stats::median(&as_f64)),
                (Some(median), Some(median)),
                "{rule:?}"
            );
        }
        assert_eq!(Disturbance::default().normal_ns(), None);
    }

    #[test]
    fn a_permanently_slower_machine_becomes_normal() {
        let mut rule = Disturbance::from_probes(vec![1000; 15]);
        let marked = (0..40)
            .filter(|_| rule.judge(&sample([2000; 2], 0, 1), false).is_some())
            .count();
        assert!((5..15).contains(&marked), "{marked}");
    }
}
