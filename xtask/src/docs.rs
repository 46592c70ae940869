//! `cargo xtask docs`: the documentation as a website.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use writebench_testkit::command::{announced, cargo, printed, root, target_directory};

pub(crate) fn run() -> Result<bool> {
    build(&target_directory()?.join("book")).map(|()| true)
}

/// mdBook itself accepts broken links.
pub(crate) fn build(book: &Path) -> Result<()> {
    let tools = target_directory()?.join("tools");
    // Does nothing if this version is there.
    let words =
        "install mdbook@0.5.4 --locked --quiet --no-default-features --features search --root";
    announced(cargo().args(words.split(' ')).arg(&tools))?;
    announced(
        Command::new(tools.join("bin/mdbook"))
            .arg("build")
            .arg(root())
            .arg("--dest-dir")
            .arg(book),
    )?;
    // The server gives 404.html for any address.
    let pages = printed(
        Command::new("find")
            .arg(book)
            .args(["-name", "*.html", "!", "-name", "404.html"]),
    )?;
    let broken = pages
        .lines()
        .map(|page| broken(page.as_ref()))
        .collect::<Result<Vec<_>>>()?
        .concat();
    ensure!(
        broken.is_empty(),
        "links that lead nowhere:\n{}",
        broken.join("\n")
    );
    Ok(())
}

/// The links of a page to files or anchors that the site does not have.
fn broken(page: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(page).with_context(|| page.display().to_string())?;
    let folder = page.parent().context("a page in a folder")?;
    let links = [" href=\"", " src=\""]
        .into_iter()
        .flat_map(|before| text.split(before).skip(1));
    let links = links
        .filter_map(|rest| rest.split('"').next())
        .filter(|link| !link.contains(':'));
    let leads_nowhere = |link: &&str| {
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() {
            page.to_owned()
        } else {
            folder.join(file)
        };
        let has = |text: &str| anchor.is_empty() || text.contains(&format!("id=\"{anchor}\""));
        !fs::read(target).is_ok_and(|bytes| has(&String::from_utf8_lossy(&bytes)))
    };
    Ok(links
        .filter(leads_nowhere)
        .map(|link| format!("{}: {link}", page.display()))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_needs_its_file_and_its_anchor() {
        let site = tempfile::tempdir().unwrap();
        let page = site.path().join("a.html");
        fs::create_dir(site.path().join("more")).unwrap();
        fs::write(site.path().join("more/b.html"), "<h2 id=\"start\">B</h2>").unwrap();
        let broken_in = |text: &str| {
            fs::write(&page, text).unwrap();
            broken(&page).unwrap().len()
        };
        for good in [
            "more/b.html",
            "more/b.html#start",
            "https://example.org/x",
            "mailto:a@b.c",
        ] {
            assert_eq!(
                broken_in(&format!("<p id=\"x\"><a href=\"{good}\"> <a href=\"#x\">")),
                0,
                "{good}"
            );
        }
        for bad in ["b.html", "more/b.html#end", "#y"] {
            assert_eq!(
                broken_in(&format!("<a class=\"c\" href=\"{bad}\">")),
                1,
                "{bad}"
            );
        }
        assert_eq!(broken_in("<img src=\"gone.png\">"), 1);
    }
}
