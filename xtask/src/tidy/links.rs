use std::path::Path;

use super::{Finding, finding};

/// Registries show a document without its linked files, so it links to the forge.
const FORGE: [&str; 2] = [
    "https://github.com/writebench/writebench/blob/main",
    "https://github.com/writebench/writebench/tree/main",
];

pub(super) fn broken(root: &Path, path: &str, text: &str) -> Vec<Finding> {
    if !is_document(path) {
        return Vec::new();
    }
    let folder = root
        .join(path)
        .parent()
        .map(Path::to_owned)
        .unwrap_or_default();
    let leads_nowhere = |(_, link): &(usize, &str)| {
        let on_forge = FORGE.iter().find_map(|forge| link.strip_prefix(forge));
        let file = on_forge
            .unwrap_or(link)
            .split(['#', '?'])
            .next()
            .unwrap_or_default();
        let target = match file.strip_prefix('/') {
            Some(file) => root.join(file),
            None => folder.join(file),
        };
        let is_elsewhere = file.is_empty() || file.contains("://") || file.starts_with("mailto:");
        !is_elsewhere
            && !target
                .canonicalize()
                .is_ok_and(|target| target.starts_with(root))
    };
    let nowhere = links(text).into_iter().filter(leads_nowhere);
    nowhere
        .map(|(line, link)| finding(path, line, format!("link to {link}, which does not exist")))
        .collect()
}

fn is_document(path: &str) -> bool {
    matches!(path, "README.md" | "CHANGELOG.md" | "CONTRIBUTING.md")
        || (path.starts_with("docs/") && path.ends_with(".md"))
}

/// Targets of `[text](target)`, `[name]: target`, `href` and `src` outside code, with their lines.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            links.extend(
                links_of_line(line)
                    .into_iter()
                    .map(|link| (index + 1, link)),
            );
        }
    }
    links
}

fn links_of_line(line: &str) -> Vec<&str> {
    // Code is between two backticks.
    let prose = line.split('`').step_by(2);
    let mut links = Vec::new();
    for part in prose {
        for (opening, closing) in [("](", ')'), ("href=\"", '"'), ("src=\"", '"')] {
            let rests = part
                .match_indices(opening)
                .map(|(at, _)| &part[at + opening.len()..]);
            links.extend(rests.filter_map(|rest| rest.split(closing).next()));
        }
    }
    // The text may have backticks: [`name`](target).
    if let Some(definition) = line
        .trim_start()
        .strip_prefix('[')
        .and_then(|rest| rest.split_once("]: "))
    {
        links.push(definition.1);
    }
    // A title may follow the target.
    links
        .into_iter()
        .filter_map(|link| link.split_whitespace().next())
        .collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn broken_among(existing: &[&str], path: &str, text: &str) -> Vec<Finding> {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().canonicalize().unwrap().join("root");
        for file in existing
            .iter()
            .map(|file| root.join(file))
            .chain([root.join(path), root.join("../README.md")])
        {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        broken(&root, path, text)
    }

    #[test]
    fn a_broken_link_is_found_on_its_line() {
        let found = broken_among(
            &[],
            "README.md",
            "# A\n\nSee [the guide](docs/guide.md#start).\n",
        );
        let what = "link to docs/guide.md#start, which does not exist";
        assert_eq!(found, [finding("README.md", 3, what)]);
        for text in [
            "[`code`](gone.md)",
            "[name]: gone.md 'Title'",
            "<img src=\"gone.svg\">",
        ] {
            assert_eq!(broken_among(&[], "docs/a.md", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn links_are_relative_to_their_document() {
        let existing = ["docs/methods/write.md", "README.md", "docs/guide.md"];
        let text = "[a](write.md) [b](../../README.md) [c](../guide.md \"Title\") [d](/README.md)";
        assert_eq!(
            broken_among(&existing, "docs/methods/index.md", text),
            [""; 0]
        );
        assert_eq!(
            broken_among(
                &existing,
                "docs/methods/index.md",
                "[a](../../../README.md)"
            )
            .len(),
            1
        );
    }

    #[test]
    fn links_to_the_forge_lead_to_files_of_the_repository() {
        let text = format!("[a]({0}/docs/guide.md#start) [b]({0}/gone.md)", FORGE[0]);
        let found = broken_among(&["docs/guide.md"], "README.md", &text);
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn external_links_and_code_are_not_followed() {
        let text =
            "[a](https://example.org/x) [b](#here) [c](mailto:a@b.c) `[d](e)`\n```\n[f](g)\n```\n";
        assert_eq!(broken_among(&[], "README.md", text), [""; 0]);
        assert_eq!(
            broken_among(&[], "crates/model/notes.md", "[a](gone.md)"),
            [""; 0]
        );
    }
}
