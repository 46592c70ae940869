//! The unsafe power losses as text, each at its place among the system calls of the program.

use writebench_report::formats::{folded, padded};
use writebench_report::{counted, quoted, visible};
use writebench_stats::{distinct, grouped};

use super::findings::{Findings, Kept, MOST_WINDOWS, Unsafe};

/// A line for each filesystem, and below it the places of unsafe power losses.
pub(super) fn text(all: &[Findings], keeping: Option<&Keeping<'_>>, width: usize) -> String {
    let name_width = all
        .iter()
        .map(|found| found.filesystem.len())
        .max()
        .unwrap_or(0);
    let mut text = String::new();
    for found in all {
        let chosen = if found.checked < found.possible {
            format!(" of {}", with_commas(found.possible))
        } else {
            String::new()
        };
        text += &format!(
            "{}  {:>6}{chosen} power losses: {}\n",
            padded(&found.filesystem, name_width),
            with_commas(found.checked),
            verdict(found)
        );
        let windows = Window::all(found);
        let shown = windows.iter().take(MOST_WINDOWS);
        let shown: Vec<String> = shown.map(|window| window.text(keeping, width)).collect();
        text += &shown.join("\n");
        if windows.len() > MOST_WINDOWS {
            let more = windows.len() - MOST_WINDOWS;
            let places = counted(more, "other place");
            text += &format!("  More in {places}: see --export json=FILE\n");
        }
        if let Some(first) = found.unmountable.first() {
            let line = format!(
                "  > Number {}, not mountable: {}",
                first.number,
                visible(&first.reason)
            );
            text += &folded(&line, width, 6);
            text += &keeping.map_or(String::new(), |keeping| {
                keeping.text(first.number, &first.kept)
            });
        }
    }
    if keeping.is_none() && !all.iter().all(Findings::is_safe) {
        text += "To look at the disks, add --keep DIR.\n";
    }
    text
}

/// How the user mounts images.
pub(super) struct Keeping<'k> {
    pub mount_options: Option<&'k str>,
}

impl Keeping<'_> {
    /// `  To look at number 50: mount -o loop keep/xfs-50.img /mnt`. The line is for a shell, so it is not folded.
    pub(super) fn text(&self, number: usize, kept: &Kept) -> String {
        if let Some(image) = &kept.image {
            let options = self.mount_options.map(|options| format!(",{options}"));
            let options = quoted(&format!("loop{}", options.unwrap_or_default()));
            let image = quoted(image);
            return format!("  To look at number {number}: mount -o {options} {image} /mnt\n");
        }
        let error = kept.error.as_ref();
        error.map_or(String::new(), |error| {
            format!(
                "  The disk of number {number} is not kept: {}\n",
                visible(error)
            )
        })
    }
}

fn verdict(found: &Findings) -> String {
    if found.is_safe() {
        return "all safe".to_owned();
    }
    let mut parts = Vec::new();
    if !found.unsafe_cuts.is_empty() {
        parts.push(format!("{} UNSAFE", with_commas(found.unsafe_cuts.len())));
    }
    if !found.unmountable.is_empty() {
        parts.push(format!(
            "{} not mountable",
            with_commas(found.unmountable.len())
        ));
    }
    parts.join(", ")
}

/// Unsafe power losses between the same two calls. A loop has many such places.
struct Window<'f> {
    found: &'f Findings,
    /// The first one decides which calls are shown.
    cuts: Vec<&'f Unsafe>,
}

/// The calls that are shown before and after a window.
const MOST_BEFORE: usize = 7;
const MOST_AFTER: usize = 2;

impl<'f> Window<'f> {
    /// In the order of their first power losses.
    fn all(found: &'f Findings) -> Vec<Self> {
        grouped(&found.unsafe_cuts, |cut| cut.place())
            .into_iter()
            .map(|(_, cuts)| Self { found, cuts })
            .collect()
    }

    /// Lines that are at most so wide, unless a path is longer.
    fn text(&self, keeping: Option<&Keeping<'_>>, width: usize) -> String {
        let [before, after] = self.found.around(self.cuts[0]);
        let before = repeats_counted(before);
        let after = repeats_counted(after);
        let first_shown = before.len().saturating_sub(MOST_BEFORE);
        let last_shown = after.len().min(MOST_AFTER);
        let mut lines = Vec::new();
        if first_shown > 0 {
            lines.push("    …".to_owned());
        }
        lines.extend(before[first_shown..].iter().map(|call| call_line(call)));
        lines.push(self.mark());
        lines.extend(after[..last_shown].iter().map(|call| call_line(call)));
        if last_shown < after.len() {
            lines.push("    …".to_owned());
        }
        let first = self.cuts[0];
        let image = keeping.map(|keeping| keeping.text(first.number, &first.kept));
        let lines = lines.iter().map(|line| folded(line, width, 6));
        lines.chain(image).collect()
    }

    /// `  > 4 UNSAFE here. Number 50: config is empty`
    fn mark(&self) -> String {
        let first = self.cuts[0];
        let places = distinct(&self.cuts, |cut| (cut.recording, cut.calls_before)).len();
        let places = match places {
            1 => "here".to_owned(),
            places => format!("in {places} such places"),
        };
        format!(
            "  > {} UNSAFE {places}. Number {}: {}",
            self.cuts.len(),
            first.number,
            visible(&first.reason)
        )
    }
}

fn call_line(call: &str) -> String {
    format!("    {}", visible(call))
}

/// `write(log), 5 times`
fn repeats_counted(calls: &[String]) -> Vec<String> {
    let runs = calls.chunk_by(|one, next| one == next);
    let counted = |run: &[String]| match run.len() {
        1 => run[0].clone(),
        times => format!("{}, {times} times", run[0]),
    };
    runs.map(counted).collect()
}

/// `1,594`
fn with_commas(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use writebench_powerloss::Moment;

    use super::super::findings::{Recorded, Unmountable};
    use super::*;

    const KEPT: Option<&Keeping<'_>> = Some(&Keeping {
        mount_options: None,
    });

    fn found(calls: &[&str], unsafe_after: &[usize]) -> Findings {
        let mut found = Findings::on(&"xfs".parse().unwrap());
        found.recordings.push(Recorded {
            commits: false,
            calls: calls.iter().map(ToString::to_string).collect(),
        });
        for &acts in unsafe_after {
            found.checked += 1;
            let moment = Moment { durable: 0, acts };
            let cut = found.unsafe_now(moment, "f is empty".to_owned());
            found.unsafe_cuts.push(cut);
        }
        found.possible = found.checked;
        found
    }

    #[test]
    fn an_unsafe_power_loss_is_marked_at_its_place() {
        let calls = ["openat(f)", "write(f)", "write(f)", "rename(f, g)"];
        assert_eq!(
            text(&[found(&calls, &[3, 3])], KEPT, 80),
            "xfs       2 power losses: 2 UNSAFE
    openat(f)
    write(f), 2 times
  > 2 UNSAFE here. Number 1: f is empty
    rename(f, g)
"
        );
    }

    #[test]
    fn a_loop_has_one_of_its_places_and_other_places_follow() {
        let record = ["write(f)", "durable", "fsync(f)"];
        let calls = [&record.repeat(4)[..], &["ftruncate(f)"]].concat();
        assert_eq!(
            text(&[found(&calls, &[8, 11, 13])], KEPT, 80),
            "xfs       3 power losses: 3 UNSAFE
    …
    durable
    fsync(f)
    write(f)
    durable
    fsync(f)
    write(f)
    durable
  > 2 UNSAFE in 2 such places. Number 1: f is empty
    fsync(f)
    write(f)
    …

    …
    write(f)
    durable
    fsync(f)
    write(f)
    durable
    fsync(f)
    ftruncate(f)
  > 1 UNSAFE here. Number 3: f is empty
"
        );
    }

    #[test]
    fn each_kept_disk_has_the_command_that_mounts_it() {
        let mut found = found(&["rename(f, g)"], &[0, 1]);
        let images = [Some("keep it/xfs-1.img".to_owned()), None];
        let errors = [None, Some("keep a disk: write".to_owned())];
        for ((cut, image), error) in found.unsafe_cuts.iter_mut().zip(images).zip(errors) {
            cut.kept = Kept { image, error };
        }
        found.unmountable.push(Unmountable {
            number: 9,
            reason: "mount: no".to_owned(),
            kept: Kept {
                image: Some("keep/xfs-9.img".to_owned()),
                error: None,
            },
        });
        let keeping = Keeping {
            mount_options: Some("noatime"),
        };
        assert_eq!(
            text(&[found], Some(&keeping), 80),
            "xfs       2 power losses: 2 UNSAFE, 1 not mountable
  > 1 UNSAFE here. Number 1: f is empty
    rename(f, g)
  To look at number 1: mount -o loop,noatime 'keep it/xfs-1.img' /mnt

    rename(f, g)
  > 1 UNSAFE here. Number 2: f is empty
  The disk of number 2 is not kept: keep a disk: write
  > Number 9, not mountable: mount: no
  To look at number 9: mount -o loop,noatime keep/xfs-9.img /mnt
"
        );
    }

    #[test]
    fn long_lines_are_folded() {
        let long = format!("rename({}, {})", "a".repeat(50), "b".repeat(50));
        let text = text(&[found(&[&long], &[1])], KEPT, 80);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
    }
}
