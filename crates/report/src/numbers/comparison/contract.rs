//! Whether cases of one name are the same work.

use std::collections::HashMap;

use writebench_model::Contract;

use super::{CompareError, ComparedRun};

/// Finds a case that is other work in one run than in another: data or defaults may be others.
pub(super) fn check(runs: &[&ComparedRun]) -> Result<(), CompareError> {
    let mut first_seen: HashMap<&str, (&Contract, &str)> = HashMap::new();
    for run in runs {
        for case in &run.run.cases {
            let (contract, first) = *first_seen.entry(case.case.name()).or_insert((&case.contract, &run.name));
            if *contract != case.contract {
                return Err(CompareError::Contract {
                    case: case.case.to_string(),
                    first: first.to_owned(),
                    second: run.name.clone(),
                    differing: differing(contract, &case.contract),
                });
            }
        }
    }
    Ok(())
}

/// `durability: cached → durable`, for each field.
fn differing(a: &Contract, b: &Contract) -> String {
    let text = |it: &serde_json::Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
    let (Ok(a), Ok(b)) = (serde_json::to_value(a), serde_json::to_value(b)) else { return String::new() };
    let fields = a.as_object().into_iter().flatten().filter(|(name, value)| b[name.as_str()] != **value);
    let changed: Vec<String> =
        fields.map(|(name, value)| format!("{name}: {} → {}", text(value), text(&b[name.as_str()]))).collect();
    changed.join(", ")
}
