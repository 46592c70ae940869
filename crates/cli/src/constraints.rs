//! Options with the constraints of the user's program.

use std::num::NonZeroU32;
use std::sync::Arc;

use clap::Args;
use writebench_model::{Case, Constraint, Space, TargetRecord};
use writebench_report::{counted, emit_options};
use writebench_runner::Rule;
use writebench_snippets::{Language, code};

use crate::arguments::{WHAT, named_values};
use crate::synonyms;

#[derive(Args, Clone, Default)]
pub(crate) struct ConstraintArguments {
    /// Leave out this method, or the cases with this value or any value but plain write's. May be repeated
    #[arg(long, value_name = "METHOD|AXIS[=VALUE]", value_parser = without, help_heading = WHAT)]
    without: Vec<Constraint>,
    /// Leave out what `writebench code` cannot print in this language
    #[arg(long = "lang", value_name = "LANGUAGE", value_parser = named_values(Language::ALL, Language::name),
        help_heading = WHAT)]
    language: Option<Language>,
    /// Use this many threads at most [default: 4, or 16 for many durable files]
    #[arg(long, value_name = "N", help_heading = WHAT)]
    threads: Option<NonZeroU32>,
    /// Leave out what needs the length of the file first. Implies --data-from producer
    #[arg(long, help_heading = WHAT)]
    pub unknown_length: bool,
}

impl ConstraintArguments {
    pub(crate) fn list(&self) -> Vec<Constraint> {
        let language = self
            .language
            .map(|language| Constraint::Language(language.name().to_owned()));
        let threads = self.threads.map(|most| Constraint::Threads(most.get()));
        let length = self.unknown_length.then_some(Constraint::UnknownLength);
        self.without
            .iter()
            .cloned()
            .chain(language)
            .chain(threads)
            .chain(length)
            .collect()
    }
}

/// A method or an axis, which may be in the words of other programs.
fn without(text: &str) -> Result<Constraint, String> {
    match synonyms::values(text)?.as_deref() {
        Some([(axis, value)]) => Constraint::without(&format!("{axis}={value}")),
        _ if text.contains(',') => Constraint::without(text),
        _ => {
            let understood = synonyms::case(text)?.name;
            let method = understood.split(',').next();
            Constraint::without(method.unwrap_or_default())
        }
    }
}

/// Whether plain write satisfies them.
pub(crate) fn allow_plain(constraints: &[Constraint], baseline: &Case) -> bool {
    constraints
        .iter()
        .all(|constraint| allows(constraint, baseline, baseline))
}

fn allows(constraint: &Constraint, case: &Case, baseline: &Case) -> bool {
    constraint.allows(case, baseline) && refusal(constraint, case).is_none()
}

/// Why the language cannot print the case.
fn refusal(constraint: &Constraint, case: &Case) -> Option<String> {
    let Constraint::Language(name) = constraint else {
        return None;
    };
    let language = Language::ALL
        .iter()
        .find(|language| language.name() == name)?;
    code(case, *language, emit_options(case))
        .err()
        .map(|refusal| refusal.why)
}

/// Which simpler forms of an answer may join its contest: those that the program can use, and whose sync works on the
/// target.
pub(crate) fn rule(constraints: &[Constraint], target: &TargetRecord) -> Rule {
    let constraints = constraints.to_vec();
    let target = target.clone();
    let all = move |case: &Case, baseline: &Case| {
        target.why_not_durable(case).is_none()
            && constraints
                .iter()
                .all(|constraint| allows(constraint, case, baseline))
    };
    Rule(Some(Arc::new(all)))
}

/// Why the target cannot have this case, whose baseline was checked before.
pub(crate) fn why_unfit(case: &Case, target: &TargetRecord) -> Option<String> {
    if let Some(why) = target.why_not_durable(case) {
        return Some(format!("{case}: not durable here: {why}"));
    }
    let cases = std::slice::from_ref(case);
    let environment = &target.environment;
    writebench_runner::check_sectors(environment, cases)
        .and_then(|()| writebench_runner::check_memory(environment, cases, 0))
        .err()
        .map(|error| error.to_string())
}

/// Leaves out forbidden candidates, and reports their number. The baseline remains as the reference. An error names the option
/// that left none.
pub(crate) fn constrain(
    space: &mut Space,
    constraints: &[Constraint],
) -> Result<Vec<String>, String> {
    constraints
        .iter()
        .for_each(|constraint| space.add_allowed(constraint));
    let mut notes = Vec::new();
    for constraint in constraints {
        let before = space.others.len();
        let why = space
            .others
            .iter()
            .find_map(|case| refusal(constraint, case));
        let why = why
            .map(|why| format!(" (for example {why})"))
            .unwrap_or_default();
        let baseline = &space.baseline;
        space
            .others
            .retain(|case| allows(constraint, case, baseline));
        space
            .portfolio
            .retain(|case| allows(constraint, case, baseline));
        match before - space.others.len() {
            0 => {}
            _ if space.others.is_empty() => {
                let title = &space.title;
                return Err(format!(
                    "{constraint} leaves none of {before} candidates for '{title}'{why}. Leave it out, or another \
                     constraint"
                ));
            }
            count if notes.is_empty() => {
                notes.push(format!(
                    "Left out {} by {constraint}{why}",
                    counted(count, "candidate")
                ));
            }
            count => notes.push(format!("{count} by {constraint}{why}")),
        }
    }
    Ok(notes)
}
