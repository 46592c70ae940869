//! Suggestions for misspelt words.

/// An error about an unknown word: the name that was meant, or the three nearest, and the command that `lists` all.
pub fn unknown<'n>(
    kind: &str,
    word: &str,
    names: impl IntoIterator<Item = &'n str>,
    lists: &str,
) -> String {
    let names: Vec<&str> = names.into_iter().collect();
    let meant = did_you_mean(word, &names);
    if meant.is_empty() {
        let nearest = nearest(word, names).join(", ");
        format!("unknown {kind} '{word}': the nearest are {nearest}. `{lists}` lists all")
    } else {
        format!("unknown {kind} '{word}'{meant} `{lists}` lists all")
    }
}

/// The end of an error about an unknown word: `. Did you mean 'size'?`, or nothing.
pub fn did_you_mean<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> String {
    let mut alike: Vec<(usize, N)> = names
        .into_iter()
        .filter_map(|name| Some((slips(word, name.as_ref())?, name)))
        .collect();
    alike.sort_by_key(|(slips, _)| *slips);
    match alike.as_slice() {
        // A word that is as near to two names is neither.
        [(least, _), (next, _), ..] if least == next => String::new(),
        [(_, name), ..] => format!(". Did you mean '{}'?", name.as_ref()),
        [] => String::new(),
    }
}

/// The three names nearest to a word, the nearest first. A name with the word in it is nearer than any other, and hyphens
/// do not count.
fn nearest<'n>(word: &str, names: impl IntoIterator<Item = &'n str>) -> Vec<&'n str> {
    const MOST: usize = 3;
    let letters = |text: &str| text.to_lowercase().replace(['-', '_'], "");
    let word = letters(word);
    let mut ranked: Vec<&str> = names.into_iter().collect();
    ranked.sort_by_cached_key(|name| {
        let name = letters(name);
        let has_word = !word.is_empty() && name.contains(&word);
        (!has_word, strsim::osa_distance(&word, &name))
    });
    ranked.dedup();
    ranked.truncate(MOST);
    ranked
}

/// Whether the word is the name with slips of the hand, and not another word: `ext5` and `zfs` mean something else than
/// `ext2` and `xfs`.
pub fn is_slip(word: &str, name: &str) -> bool {
    slips(word, name).is_some()
}

/// The number of letters that are missing, added, exchanged or wrong. None if the word is another one than the name.
fn slips(word: &str, name: &str) -> Option<usize> {
    /// The length up to which a word with one other letter is another word.
    const SHORT: usize = 4;
    let word = word.to_lowercase();
    let name = name.to_lowercase();
    let length = word.chars().count();
    let slips = strsim::osa_distance(&word, &name);
    let has_other_letter =
        length == name.chars().count() && sorted_letters(&word) != sorted_letters(&name);
    (slips <= length.div_ceil(5) && !(length <= SHORT && has_other_letter)).then_some(slips)
}

fn sorted_letters(text: &str) -> Vec<char> {
    let mut letters: Vec<char> = text.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_suggests_the_most_similar_name_only() {
        let names = ["write", "pwrite", "mmap"];
        assert_eq!(did_you_mean("wirte", names), ". Did you mean 'write'?");
        assert_eq!(did_you_mean("pwirte", names), ". Did you mean 'pwrite'?");
        assert_eq!(did_you_mean("splice", names), "");
        assert_eq!(did_you_mean("", names), "");
        assert_eq!(
            did_you_mean("writs", ["write", "writr"]),
            "",
            "as near to both"
        );
    }

    #[test]
    fn the_nearest_names_contain_the_word_or_have_few_other_letters() {
        let names = [
            "create",
            "set-len",
            "fallocate",
            "posix-fallocate",
            "zero-fill",
        ];
        assert_eq!(
            nearest("alloc", names)[..2],
            ["fallocate", "posix-fallocate"]
        );
        assert_eq!(nearest("Zero_fill", names)[0], "zero-fill");
        assert_eq!(nearest("", ["a"]), ["a"]);
    }

    #[test]
    fn an_unknown_word_gets_the_name_that_was_meant_or_the_three_nearest() {
        let names = ["write", "pwrite", "writev", "mmap", "mmap-write"];
        assert_eq!(
            unknown("method", "wirte", names, "writebench list methods"),
            "unknown method 'wirte'. Did you mean 'write'? `writebench list methods` lists all"
        );
        assert_eq!(
            unknown("method", "mapped", names, "writebench list methods"),
            "unknown method 'mapped': the nearest are mmap, write, writev. `writebench list methods` lists all"
        );
    }

    #[test]
    fn another_word_is_no_slip() {
        for (word, name) in [
            ("etx4", "ext4"),
            ("Xfs", "xfs"),
            ("jsn", "json"),
            ("streem", "stream"),
            ("reprot", "report"),
            ("fallocat", "fallocate"),
        ] {
            assert!(is_slip(word, name), "{word}");
        }
        for (word, name) in [
            ("zfs", "xfs"),
            ("ext5", "ext2"),
            ("for", "force"),
            ("suite", "quiet"),
            ("write", "suites"),
            ("wal,copy", "durable-copy"),
            ("", "size"),
        ] {
            assert!(!is_slip(word, name), "{word}");
        }
    }
}
