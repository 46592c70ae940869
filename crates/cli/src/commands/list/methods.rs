use anyhow::Result;
use writebench_model::{Axis, Case, Method, SyncCall};

use super::reference::{below, default_of, field};
use crate::exit::usage;

/// The lines of each method.
pub(super) fn all() -> String {
    let lines = |method: &Method| block(*method, usize::MAX);
    Method::ALL.iter().map(lines).collect()
}

/// A method's lines, its engine of fio, and its axes with their defaults.
pub(super) fn described(asked: &str, width: usize) -> Result<String> {
    let method = Method::from_name(asked).ok_or_else(|| unknown(asked))?;
    let mut text = block(method, width);
    let fio = match method.card().fio {
        Ok(engine) => format!("fio: ioengine={}", engine.name),
        Err(why) => format!("fio: none, because {why}"),
    };
    text += &below(&fio, width);
    text += "\nDefault of each axis:\n";
    let defaults = Case::parse(method.name()).map_err(|why| usage!("{why}"))?;
    for axis in method.own_axes() {
        let default = format!("{axis}={}", defaults.value(axis));
        text += &default_of(&default, axis.summary(), width);
    }
    Ok(text)
}

fn block(method: Method, width: usize) -> String {
    let card = method.card();
    let axes: Vec<&str> = method.own_axes().map(Axis::name).collect();
    let prepares: Vec<&str> = card.prepares.iter().map(|prepare| prepare.name()).collect();
    let syncs: Vec<&str> = card.syncs.iter().map(|sync| sync.name()).collect();
    let mut text = field(method.name(), card.summary, width);
    text += &below(&format!("calls: {}", card.calls), width);
    text += &below(&format!("axes: {}", axes.join(", ")), width);
    let default = card.prepares[0];
    let prepares = prepares.join(", ");
    text += &below(&format!("prepare: {prepares} (default {default})"), width);
    text += &below(&format!("sync: {}", syncs.join(", ")), width);
    if !card.syncs_on_the_way.is_empty() {
        let every = |call: &SyncCall| format!("{call}/N");
        let calls: Vec<String> = card.syncs_on_the_way.iter().map(every).collect();
        let calls = calls.join(", ");
        text += &below(&format!("      and after every N chunks: {calls}"), width);
    }
    text
}

fn unknown(word: &str) -> anyhow::Error {
    let names = Method::ALL.iter().map(|method| method.name());
    let error = writebench_model::unknown("method", word, names, "writebench list methods");
    usage!("{error}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_method_is_described_with_its_calls_and_its_axes() {
        for method in Method::ALL {
            let text = described(method.name(), 80).unwrap();
            assert!(text.contains("calls: "), "{text}");
            for axis in method.own_axes() {
                assert!(text.contains(&format!("  {axis}=")), "{axis}: {text}");
            }
        }
    }

    #[test]
    fn an_unknown_method_gets_the_nearest_names() {
        let error = described("copyfile", 80).unwrap_err().to_string();
        assert!(error.contains("nearest are copy-file-range"), "{error}");
    }
}
