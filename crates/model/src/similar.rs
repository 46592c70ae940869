//! Suggestions for misspelt words.

/// The least Jaro similarity, from 0 to 1. clap suggests options and their values by the same measure.
const LEAST: f64 = 0.7;

/// An error about an unknown word, with the known ones.
pub(crate) fn unknown<'n>(kind: &str, word: &str, has: &str, names: impl Iterator<Item = &'n str>) -> String {
    let names: Vec<&str> = names.collect();
    format!("unknown {kind} '{word}': {has} {}{}", names.join(", "), did_you_mean(word, &names))
}

/// The end of an error about an unknown word: `. Did you mean 'size'?`, or nothing.
pub fn did_you_mean<N: AsRef<str>>(word: &str, names: impl IntoIterator<Item = N>) -> String {
    let likeness = |name: N| (strsim::jaro(word, name.as_ref()), name);
    let alike = names.into_iter().map(likeness).filter(|(likeness, _)| *likeness > LEAST);
    let most = alike.max_by(|(one, _), (other, _)| one.total_cmp(other));
    most.map_or(String::new(), |(_, name)| format!(". Did you mean '{}'?", name.as_ref()))
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
    }
}
