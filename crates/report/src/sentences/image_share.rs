//! The cost of an image and its loop device, vs. the same filesystem without them.

use std::collections::BTreeMap;

use writebench_model::{Image, RunRecord, TargetRecord};
use writebench_stats::Interval;

use crate::numbers::{CaseReport, geometric_mean, least_and_most};
use crate::sentences::words::counted;

/// A sentence for each filesystem in an image on a measured filesystem of the same kind.
pub(crate) fn sentences(run: &RunRecord, cases: &[CaseReport]) -> Vec<String> {
    run.targets
        .iter()
        .filter_map(|made| {
            let image = plain_image(made)?;
            let plain = run
                .targets
                .iter()
                .find(|plain| is_below(plain, made, image))?;
            sentence(made, image, plain, cases)
        })
        .collect()
}

/// The image of a filesystem that mkfs made with its defaults. Other differences would hide the image's share.
fn plain_image(made: &TargetRecord) -> Option<&Image> {
    let making = made.made_filesystem.as_ref()?;
    let is_plain = making.kind == made.environment.filesystem.kind
        && making.mkfs_options.is_empty()
        && making.mount_options.is_none();
    making.images.first().filter(|_| is_plain)
}

fn is_below(plain: &TargetRecord, made: &TargetRecord, image: &Image) -> bool {
    let environment = &plain.environment;
    plain.made_filesystem.is_none()
        && environment.filesystem.kind == made.environment.filesystem.kind
        && environment
            .device
            .as_ref()
            .is_some_and(|device| device.number == image.directory_device)
}

fn sentence(
    made: &TargetRecord,
    image: &Image,
    plain: &TargetRecord,
    cases: &[CaseReport],
) -> Option<String> {
    let without_image = ranked_by_name(plain, cases);
    let ratios: Vec<Interval> = ranked_by_name(made, cases)
        .into_iter()
        .filter_map(|(name, case)| case.ratio_to(without_image.get(name)?))
        .filter(Interval::is_sure)
        .collect();
    let estimates: Vec<f64> = ratios.iter().map(|ratio| ratio.estimate).collect();
    let (least, most) = least_and_most(estimates.iter().copied())?;
    let mean = geometric_mean(&estimates);
    let share = match ratios.iter().any(|ratio| ratio.verdict().is_difference()) {
        true if mean > 1.0 => format!(
            "{:.0} % for image and loop device",
            (1.0 - 1.0 / mean) * 100.0
        ),
        true => "no measurable cost of image and loop device".to_owned(),
        false => "no difference in any case".to_owned(),
    };
    Some(format!(
        "{} in an image in {} ({}) takes {mean:.2} times as long as {} without one: {share} (geometric mean of {}, \
         {least:.2} to {most:.2}).",
        made.name,
        image.directory,
        image.directory_filesystem,
        plain.name,
        counted(ratios.len(), "case"),
    ))
}

fn ranked_by_name<'c>(
    target: &TargetRecord,
    cases: &'c [CaseReport],
) -> BTreeMap<&'c str, &'c CaseReport> {
    cases
        .iter()
        .filter(|case| case.is_ranked() && case.record.target == target.name)
        .map(|case| (case.record.case.name(), case))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Report;
    use writebench_model::{FilesystemSpec, Outcome, Sample};
    use writebench_testkit::{example_case, example_run, example_target};

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
            directory_device: "8:0".to_owned(),
            size_bytes: 1,
            device: "loop0".to_owned(),
            direct_io: true,
            direct_io_refused: None,
            logical_sector_bytes: 512,
        };
        let mut made = example_target("ext4");
        made.made_filesystem = Some(FilesystemSpec {
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
        let sentence = |made: &TargetRecord| {
            let targets = vec![example_target("/data"), made.clone()];
            let report = Report::from_run(
                None,
                RunRecord {
                    targets,
                    cases: cases.clone(),
                    ..example_run()
                },
            );
            report
                .conclusions
                .into_iter()
                .find(|line| line.contains("image"))
        };
        let mut elsewhere = made.clone();
        elsewhere.made_filesystem.as_mut().unwrap().images[0].directory_device = "0:25".to_owned();
        let mut journaled = made.clone();
        journaled.made_filesystem.as_mut().unwrap().mount_options = Some("data=journal".to_owned());
        assert_eq!(
            (sentence(&elsewhere), sentence(&journaled)),
            (None, None),
            "more than the image differs"
        );
        assert_eq!(
            sentence(&made).unwrap(),
            "ext4 in an image in /data (ext4) takes 2.00 times as long as /data without one: 50 % for image and \
             loop device (geometric mean of 2 cases, 1.00 to 4.00)."
        );
    }
}
