//! A failed sync is final, even if its error is EINTR: the data may be lost although a second call succeeds.

use anyhow::{Result, ensure};
use writebench_snippets::Language;
use writebench_testkit::{Caching, Call, Errno, Fault, Faulty, Need, Trials, What, When};

use super::built::{Built, needs, text};
use super::content::content;
use super::grid::in_all_languages;

const CASES: [&str; 4] = [
    "write,chunk=4KiB,sync=fsync",
    "write,chunk=4KiB,sync=fdatasync",
    "read-write,chunk=4KiB,sync=fsync",
    "write,chunk=4KiB,sync=fsync/2",
];

/// Their own functions repeat the call.
const REPEATING: [Language; 3] = [Language::Python, Language::Java, Language::Node];

pub(crate) fn add(trials: &mut Trials) {
    for (language, name) in in_all_languages(CASES) {
        let needs = [&needs(language, name)[..], &[Need::Fuse]].concat();
        let title = format!(
            "snippets: {}: an interrupted sync of {name} is final, or it says so",
            language.name()
        );
        trials.add(title, &needs, move || is_final(name, language));
    }
}

fn is_final(name: &str, language: Language) -> Result<()> {
    if REPEATING.contains(&language) {
        let text = text(name, language, &[])?.map_err(anyhow::Error::msg)?;
        ensure!(text.contains("EINTR"), "{text}");
        return Ok(());
    }
    let Some(built) = Built::for_case(name, language, &[])? else {
        return Ok(());
    };
    let faulty = Faulty::mount("sample", Caching::None)?;
    faulty.follow(&[Fault {
        when: When::Call(Call::Fsync),
        what: What::Fail(Errno::INTR),
    }]);
    let source = tempfile::NamedTempFile::new()?;
    std::fs::write(source.path(), content(40_000))?;
    let output = built.output(faulty.path(), source.path(), &faulty.path().join("sample"))?;
    let syncs = faulty
        .operations()
        .iter()
        .filter(|operation| operation.call == Call::Fsync)
        .count();
    ensure!(
        !output.status.success() && syncs == 1,
        "{syncs} syncs: {output:?}"
    );
    Ok(())
}
