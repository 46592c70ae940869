//! The name of the distribution, by os-release(5).

use std::path::Path;

use crate::kernel_file;

pub(crate) fn distribution(root: &Path) -> Option<String> {
    // A system with an empty /etc has only the vendor's file.
    ["etc/os-release", "usr/lib/os-release"]
        .iter()
        .find_map(|path| kernel_file::text(&root.join(path)))
        .and_then(|text| pretty_name(&text))
}

fn pretty_name(text: &str) -> Option<String> {
    let assigned = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("PRETTY_NAME="))?;
    // The value has the syntax of a shell, with quotes and escapes.
    let name = shlex::split(assigned)?.join(" ");
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_name_is_found_among_the_others() {
        let text = "NAME=\"Debian GNU/Linux\"\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\nID=debian\n";
        assert_eq!(
            pretty_name(text).as_deref(),
            Some("Debian GNU/Linux 12 (bookworm)")
        );
    }

    #[test]
    fn quotes_follow_shell_syntax() {
        assert_eq!(pretty_name("PRETTY_NAME=Alpine").as_deref(), Some("Alpine"));
        assert_eq!(
            pretty_name("PRETTY_NAME='Void \\ $1'").as_deref(),
            Some("Void \\ $1")
        );
        assert_eq!(
            pretty_name(r#"PRETTY_NAME="a \"b\" \$c""#).as_deref(),
            Some(r#"a "b" $c"#)
        );
    }

    #[test]
    fn a_missing_name_is_none() {
        assert_eq!(pretty_name("NAME=x"), None);
        assert_eq!(pretty_name("PRETTY_NAME=\"\""), None);
    }

    proptest! {
        #[test]
        fn no_value_makes_it_panic(value in any::<String>()) {
            let _ = pretty_name(&format!("PRETTY_NAME={value}"));
        }
    }
}
