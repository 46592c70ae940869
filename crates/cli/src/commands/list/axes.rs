use anyhow::Result;
use writebench_model::{Axis, Method, ValueEntry};

use super::reference;
use crate::exit::usage;

/// A line for each axis, and one for its values.
pub(super) fn all() -> String {
    let lines = |&axis: &Axis| {
        let summary = axis.summary();
        let values = axis.values();
        let default = axis.default_value();
        format!("{axis:<12}{summary}\n            {values} (default {default})\n")
    };
    Axis::ALL.iter().map(lines).collect()
}

/// The axis that a user means by `prepare` or `prepare=zero-fill`.
pub(super) fn axis_in(asked: &str) -> Result<Axis> {
    let name = asked.split('=').next().unwrap_or_default();
    Axis::from_name(name).ok_or_else(|| unknown(name))
}

/// What the reference says about an axis, or about one of its values.
pub(super) fn described(asked: &str, width: usize) -> Result<String> {
    let axis = axis_in(asked)?;
    let Some((_, value)) = asked.split_once('=') else {
        return Ok(axis_described(axis, width));
    };
    axis.canonical(value)
        .map_err(|why| usage!("{}", reference::plain(&why)))?;
    // The axis itself describes its numbers.
    let described = entries_of(axis, value);
    if described.is_empty() {
        return Ok(axis_described(axis, width));
    }
    let paragraphs = described
        .iter()
        .map(|entry| paragraph(axis, *entry, width))
        .collect::<Vec<_>>();
    Ok(paragraphs.join("\n"))
}

fn axis_described(axis: Axis, width: usize) -> String {
    let methods: Vec<&str> = Method::ALL
        .iter()
        .filter(|method| method.has_axis(axis))
        .map(|method| method.name())
        .collect();
    let methods = if methods.len() == Method::ALL.len() {
        "all".to_owned()
    } else {
        methods.join(", ")
    };
    let mut text = reference::field(axis.name(), axis.summary(), width);
    text += &reference::field("values", &axis.values().replace('|', ", "), width);
    text += &reference::field("default", &axis.default_value(), width);
    text += &reference::field("methods", &methods, width);
    text += "\n";
    text += &reference::paragraph(axis.about(), 0, width);
    for entry in axis.entries() {
        text += "\n";
        text += &paragraph(axis, entry, width);
    }
    text
}

fn paragraph(axis: Axis, entry: ValueEntry, width: usize) -> String {
    let mark = if entry.value == axis.default_value() {
        " (default)"
    } else {
        ""
    };
    format!(
        "{axis}={}{mark}\n{}",
        entry.value,
        reference::paragraph(entry.paragraph, 2, width)
    )
}

/// The entries that describe a value. `fsync/8` has two: that of the call, and that of its number.
fn entries_of(axis: Axis, value: &str) -> Vec<ValueEntry> {
    let describes = |entry: &ValueEntry| match (entry.value, value.split_once('/')) {
        ("CALL/N", parts) => parts.is_some(),
        (word, Some((call, _))) => word == call,
        ("compressible:PERCENT", None) => value.starts_with("compressible:"),
        ("LEAST..MOST", None) => value.contains(".."),
        (word, None) => word == value,
    };
    axis.entries().into_iter().filter(describes).collect()
}

/// Some know a value and not its axis.
fn unknown(word: &str) -> anyhow::Error {
    let axes_with_value: Vec<String> = Axis::ALL
        .iter()
        .filter(|axis| axis.entries().iter().any(|entry| entry.value == word))
        .map(|axis| format!("{axis}={word}"))
        .collect();
    if axes_with_value.is_empty() {
        let names = Axis::ALL.iter().map(|axis| axis.name());
        let error = writebench_model::unknown("axis", word, names, "writebench list axes");
        return usage!("{error}");
    }
    let axes = axes_with_value.join(", ");
    usage!("{word} is a value, and not an axis: {axes}. `writebench list axes` lists all axes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_named_value_of_each_axis_has_a_paragraph() {
        for axis in Axis::ALL.iter().filter(|axis| !axis.is_number()) {
            for value in axis.examples() {
                let described = entries_of(*axis, value);
                // The axis describes sizes.
                let is_size = *axis == Axis::FileSize && value.ends_with("KiB");
                assert!(!described.is_empty() || is_size, "{axis}={value}");
            }
        }
    }

    #[test]
    fn the_default_has_an_entry_where_it_is_a_word() {
        for axis in Axis::ALL {
            let default = axis.default_value();
            if default.chars().all(|letter| !letter.is_ascii_digit()) {
                let is_there = axis.entries().iter().any(|entry| entry.value == default);
                assert!(is_there, "{axis}={default}");
            }
        }
    }

    #[test]
    fn a_sync_with_a_number_is_described_by_its_call_and_its_number() {
        let values = |value| {
            entries_of(Axis::Sync, value)
                .iter()
                .map(|entry| entry.value)
                .collect::<Vec<_>>()
        };
        assert_eq!(values("fsync/8"), ["fsync", "CALL/N"]);
        assert_eq!(values("fsync"), ["fsync"]);
    }

    #[test]
    fn an_unknown_axis_gets_the_nearest_names_and_a_value_its_axis() {
        let error = |asked| described(asked, 80).unwrap_err().to_string();
        assert!(error("prep").contains("prepare"), "{}", error("prep"));
        assert!(error("zero-fill").contains("prepare=zero-fill"));
        assert!(error("prepare=zerofill").contains("Did you mean 'zero-fill'?"));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_unless_one_word_is() {
        for width in [40, 80] {
            for axis in Axis::ALL {
                for line in described(axis.name(), width).unwrap().lines() {
                    let is_word = !line.trim().contains(' ');
                    assert!(line.chars().count() <= width || is_word, "{line}");
                    assert!(!line.contains("]("), "{line}");
                }
            }
        }
    }
}
