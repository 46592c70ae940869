//! The part of a program's time that is its start.

use writebench_stats::as_f64;

use crate::numbers::CaseReport;
use crate::sentences::number::MILLISECONDS;

/// The time from the start of a process that does nothing to its end, where programs of the user's were measured.
pub(crate) fn sentence(cases: &[CaseReport]) -> Option<String> {
    let samples = cases.iter().flat_map(|case| &case.record.samples);
    let times: Vec<f64> = samples.filter_map(|sample| sample.startup_ns).map(as_f64).collect();
    let median = writebench_stats::median(&times)?;
    Some(format!(
        "To start and end a program that does nothing (`true`) takes {} ms here: so much of a program's time is none of \
         its writing, unless it reports its phases.",
        MILLISECONDS.text(median)
    ))
}

#[cfg(test)]
mod tests {
    use writebench_model::{Outcome, Sample};
    use writebench_testkit::{example_case, example_run};

    use crate::numbers::cases;

    fn said(startups_ns: &[Option<u64>]) -> Option<String> {
        let sample = |startup_ns: &Option<u64>| Sample {
            startup_ns: *startup_ns,
            ..Sample::without_figures(0, Outcome::Ok)
        };
        let case = example_case("A", "write", startups_ns.iter().map(sample).collect());
        let mut run = example_run();
        run.cases = vec![case];
        super::sentence(&cases(&mut run))
    }

    #[test]
    fn the_median_of_starts_is_said_where_there_are_some() {
        assert_eq!(said(&[None, None]), None);
        let said = said(&[Some(1_000_000), Some(3_000_000), Some(2_000_000)]).unwrap();
        assert!(said.contains("takes 2.00 ms here"), "{said}");
    }
}
