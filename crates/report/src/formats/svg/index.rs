use super::file_name;
use crate::charts::NamedChart;
use crate::formats::MARK;
use crate::numbers::grouped;
use crate::sentences::{Report, one_line};

const STYLE: &str = "body { font: 16px system-ui, sans-serif; margin: 1rem; color-scheme: light dark } \
                     div { display: flex; flex-wrap: wrap; gap: 1rem } img { max-width: 100% }";

/// The answers, then the charts. Those of one question on several targets have one heading.
pub(super) fn render(report: &Report, has_goals: bool, charts: &[NamedChart]) -> String {
    let questions = grouped(charts, |named| {
        (&named.suite, &named.section, named.family as u8)
    });
    let parts = questions.into_iter().map(|((suite, section, _), charts)| {
        let pictures: String = charts.iter().copied().map(picture).collect();
        format!(
            "<h2>{} · {}</h2>\n<div>\n{pictures}</div>\n",
            escape(suite),
            escape(section)
        )
    });
    let goals = format!(
        "<div>\n{}</div>\n",
        linked(super::GOALS, "The answers to all goals")
    );
    let parts: String = has_goals
        .then_some(goals)
        .into_iter()
        .chain(parts)
        .collect();
    format!(
        "<!-- An index of charts, {MARK} -->\n<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n\
         <title>Charts · writebench</title>\n<style>{STYLE}</style>\n<h1>Charts</h1>\n<p>{}</p>\n{parts}</html>\n",
        escape(&one_line(report))
    )
}

fn picture(named: &NamedChart) -> String {
    linked(&file_name(named), &named.chart.title)
}

fn linked(file: &str, title: &str) -> String {
    let (file, title) = (escape(file), escape(title));
    format!("<a href=\"{file}\"><img src=\"{file}\" alt=\"{title}\" loading=\"lazy\"></a>\n")
}

fn escape(text: &str) -> String {
    let Ok(safe) = askama::filters::escape(text, askama::filters::Html);
    safe.to_string()
}
