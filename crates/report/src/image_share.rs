//! What an image and its loop device cost: the same kind of filesystem with and without them.

use model::{RunRecord, TargetRecord};

use crate::conclusion::{in_round_ratio, is_ranked};
use crate::counted;
use crate::estimate::CONFIDENCE;
use crate::report::CaseReport;

/// A sentence for each filesystem in an image that a directory of the run has, too, without one.
pub(crate) fn sentences(run: &RunRecord, cases: &[CaseReport]) -> Vec<String> {
    let kind = |target: &TargetRecord| target.environment.filesystem.kind.clone();
    let in_images = run.targets.iter().filter(|target| {
        let making = target.making.as_ref();
        // What stands on another filesystem has another kind; variants of a kind are something else.
        making.is_some_and(|making| !making.images.is_empty() && making.kind == kind(target))
    });
    let plain = |made: &&TargetRecord| {
        run.targets.iter().find(|target| target.making.is_none() && kind(target) == kind(made))
    };
    in_images.filter_map(|made| sentence(made, plain(&made)?, cases)).collect()
}

fn sentence(made: &TargetRecord, plain: &TargetRecord, cases: &[CaseReport]) -> Option<String> {
    let on = |target: &TargetRecord| {
        let name = target.name.clone();
        move |case: &&CaseReport| case.record.target == name && is_ranked(case)
    };
    let mut ratios: Vec<f64> = Vec::new();
    for with in cases.iter().filter(on(made)) {
        let without = cases.iter().filter(on(plain)).find(|case| case.record.case == with.record.case);
        let ratio = without.and_then(|without| in_round_ratio(with, without));
        ratios.extend(ratio.filter(|ratio| ratio.confidence >= CONFIDENCE).map(|ratio| ratio.estimate));
    }
    let (least, most) = (ratios.iter().copied().reduce(f64::min)?, ratios.iter().copied().reduce(f64::max)?);
    #[expect(clippy::cast_precision_loss, reason = "a count of cases")]
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let image = made.making.as_ref()?.images.first()?;
    let share = if mean > 1.0 {
        format!("so image and loop device are {:.0} % of it", (1.0 - 1.0 / mean) * 100.0)
    } else {
        "so nothing is to be seen of image and loop device".to_owned()
    };
    Some(format!(
        "{} in an image in {} ({}) takes {mean:.2} times the time of {} without one, {share} (geometric mean of {}, {least:.2} \
         to {most:.2}).",
        made.name,
        image.directory,
        image.directory_filesystem,
        plain.name,
        counted(ratios.len(), "case"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use model::{Image, Making, Outcome, Sample};
    use testkit::{example_case, example_run, example_target};

    #[test]
    fn the_share_is_of_the_time_with_the_image() {
        let on = |target: &str, case: &str, write_ns: u64| {
            let samples = (0..6).map(|round| {
                let mut sample = Sample::without_figures(round, Outcome::Ok);
                sample.phases_ns.write = write_ns + u64::from(round);
                sample.bytes = 1 << 30;
                sample
            });
            let mut case = example_case("section", case, samples.collect());
            case.target = target.to_owned();
            case
        };
        let image = Image {
            directory: "/data".to_owned(),
            directory_filesystem: "ext4".to_owned(),
            size_bytes: 1,
            device: "loop0".to_owned(),
            direct_io: true,
            direct_io_refused: None,
            logical_sector_bytes: 512,
        };
        let mut made = example_target("ext4");
        made.making = Some(Making {
            kind: "ext4".to_owned(),
            images: vec![image],
            commands: Vec::new(),
            mkfs_options: Vec::new(),
            mount_options: None,
        });
        let cases = vec![
            on("/data", "a", 100_000),
            on("ext4", "a", 100_000),
            on("/data", "b", 100_000),
            on("ext4", "b", 400_000),
        ];
        let targets = vec![example_target("/data"), made];
        let report = Report::of(None, RunRecord { targets, cases, ..example_run() });
        let sentence = report.conclusions.iter().find(|it| it.contains("image")).unwrap();
        assert_eq!(
            sentence,
            "ext4 in an image in /data (ext4) takes 2.00 times the time of /data without one, so image and loop device \
             are 50 % of it (geometric mean of 2 cases, 1.00 to 4.00)."
        );
    }
}
