//! A producer without cost copies no data into the buffers of a printed program.

use anyhow::{Context, Result, bail, ensure};
use writebench_snippets::Language;

/// Skips the source instead of reading it. A write to each new buffer gives it its pages.
const SKIP: &str = "
static ssize_t skip(int fd, char *buffer, size_t size)
{
    const off_t at = lseek(fd, 0, SEEK_CUR), left = lseek(fd, 0, SEEK_END) - at;
    const size_t got = (size_t)left < size ? (size_t)left : size;
    lseek(fd, at + (off_t)got, SEEK_SET);
    if (got > 0 && buffer[0] == 0)
        for (size_t byte = 0; byte < got; byte++)
            buffer[byte] = 1;
    return (ssize_t)got;
}
";

const RUST_SKIP: &str = "
struct Skip(File);

impl Read for Skip {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::io::{Seek, SeekFrom};
        let at = self.0.stream_position()?;
        let left = self.0.seek(SeekFrom::End(0))? - at;
        let got = left.min(buffer.len() as u64) as usize;
        self.0.seek(SeekFrom::Start(at + got as u64))?;
        if buffer.first() == Some(&0) {
            buffer[..got].fill(1);
        }
        Ok(got)
    }
}
";

/// Replaces the producer in the text of `writebench code --stream --main`.
pub(super) fn with_free_producer(text: &str, language: Language) -> Result<String> {
    let (old, new, before, skip) = match language {
        Language::C => (
            "read(*(const int *)context, buffer, size)",
            "skip(*(const int *)context, buffer, size)",
            "\nstatic ssize_t read_source(",
            SKIP,
        ),
        Language::Cpp => (
            "::read(file.get(), buffer, size)",
            "skip(file.get(), buffer, size)",
            "\n// The next bytes of a file, or 0 at its end.",
            SKIP,
        ),
        Language::Rust => (
            "Ok(opened) => opened,",
            "Ok(opened) => Skip(opened),",
            "\nfn main()",
            RUST_SKIP,
        ),
        _ => bail!("{} has no free producer", language.name()),
    };
    ensure!(
        text.matches(old).count() == 1,
        "the printed program has no call that reads its source: {text}"
    );
    let text = text.replacen(old, new, 1);
    let place = text
        .find(before)
        .context("the printed program has no such function")?;
    Ok(format!("{}{skip}{}", &text[..place], &text[place..]))
}
