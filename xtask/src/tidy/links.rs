//! Links between our documents lead somewhere.

use super::Finding;

/// Local links of a document that lead to no file. `exists` is asked for paths relative to the root.
pub(super) fn broken(path: &str, text: &str, exists: impl Fn(&str) -> bool) -> Vec<Finding> {
    if !is_document(path) {
        return Vec::new();
    }
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut found = Vec::new();
    for (line, link) in links(text) {
        let file = link.split(['#', '?']).next().unwrap_or_default();
        if file.is_empty() || is_elsewhere(file) {
            continue;
        }
        if !resolve(folder, file).is_some_and(|file| exists(&file)) {
            found.push(Finding::new(path, line, format!("link to {link}, which does not exist")));
        }
    }
    found
}

fn is_document(path: &str) -> bool {
    matches!(path, "README.md" | "CHANGELOG.md" | "CONTRIBUTING.md")
        || (path.starts_with("docs/") && path.ends_with(".md"))
}

fn is_elsewhere(link: &str) -> bool {
    link.contains("://") || link.starts_with("mailto:")
}

/// The path relative to the root; none if it leads out of the repository.
fn resolve(folder: &str, link: &str) -> Option<String> {
    let start = if link.starts_with('/') { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in start.split('/').chain(link.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            name => parts.push(name),
        }
    }
    Some(parts.join("/"))
}

/// The targets of `[text](target)`, `[name]: target`, `href="target"` and `src="target"`, with their
/// lines, outside code.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    let mut in_code = false;
    for (index, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code {
            links.extend(links_of_line(line).into_iter().map(|link| (index + 1, link)));
        }
    }
    links
}

fn links_of_line(line: &str) -> Vec<&str> {
    // What stands between an odd backtick and the next is code.
    let prose = line.split('`').step_by(2);
    let mut links = Vec::new();
    for part in prose {
        for (opening, closing) in [("](", ')'), ("href=\"", '"'), ("src=\"", '"')] {
            let rests = part.match_indices(opening).map(|(at, _)| &part[at + opening.len()..]);
            links.extend(rests.filter_map(|rest| rest.split(closing).next()));
        }
    }
    // A text in backticks may stand in front: [`name`](target).
    if let Some(definition) = line.trim_start().strip_prefix('[').and_then(|rest| rest.split_once("]: ")) {
        links.push(definition.1);
    }
    // A title may follow the target.
    links.into_iter().filter_map(|link| link.split_whitespace().next()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn broken_among(existing: &[&str], path: &str, text: &str) -> Vec<Finding> {
        broken(path, text, |file| existing.contains(&file))
    }

    #[test]
    fn a_link_to_no_file_is_found_on_its_line() {
        let found = broken_among(&[], "README.md", "# A\n\nSee [the guide](docs/guide.md#start).\n");
        let what = "link to docs/guide.md#start, which does not exist";
        assert_eq!(found, [Finding::new("README.md", 3, what)]);
        for text in ["[`code`](gone.md)", "[name]: gone.md 'Title'", "<img src=\"gone.svg\">"] {
            assert_eq!(broken_among(&[], "docs/a.md", text).len(), 1, "{text}");
        }
    }

    #[test]
    fn links_are_seen_from_the_folder_of_their_document() {
        let existing = ["docs/methods/write.md", "README.md", "docs/guide.md"];
        let text = "[a](write.md) [b](../../README.md) [c](../guide.md \"Title\") [d](/README.md)";
        assert_eq!(broken_among(&existing, "docs/methods/index.md", text), []);
        assert_eq!(broken_among(&existing, "docs/methods/index.md", "[a](../../../README.md)").len(), 1);
    }

    #[test]
    fn what_leads_elsewhere_or_is_code_is_not_followed() {
        let text = "[a](https://example.org/x) [b](#here) [c](mailto:a@b.c) `[d](e)`\n```\n[f](g)\n```\n";
        assert_eq!(broken_among(&[], "README.md", text), []);
        assert_eq!(broken_among(&[], "crates/model/notes.md", "[a](gone.md)"), []);
    }
}
