use writebench_model::{Axis, Cache, Case, DataMemory};

/// The memory that direct I/O needs for its data, in sentences. None if any memory will do.
pub(crate) fn needs(case: &Case, block_bytes: u64) -> Option<String> {
    if !case.method().has_axis(Axis::Memory) || case.choices().cache != Cache::Direct {
        return None;
    }
    let memory = case.given().memory;
    let buffer = match memory {
        DataMemory::Any | DataMemory::PageAligned => "aligned memory",
        DataMemory::HugePages => "huge pages",
    };
    let copies = format!(
        "each chunk is copied to {buffer} first, unless the data begins at a multiple of {block_bytes} bytes"
    );
    Some(match memory {
        DataMemory::Any => format!("The data may be anywhere: {copies}."),
        DataMemory::PageAligned => {
            format!("It needs its data at the start of a page. Elsewhere, {copies}.")
        }
        DataMemory::HugePages => format!(
            "It needs its data in huge pages: madvise(MADV_HUGEPAGE) on memory that begins at one, before it is filled. \
             In other memory it is slower, and {copies}."
        ),
    })
}

#[cfg(test)]
mod tests {
    use crate::{EmitOptions, Language, code};
    use writebench_model::Case;

    fn header(name: &str, language: Language, is_stream: bool) -> String {
        let case = Case::parse(name).unwrap();
        let text = code(
            &case,
            language,
            EmitOptions {
                is_stream,
                ..EmitOptions::default()
            },
        )
        .unwrap();
        let words = text
            .split_whitespace()
            .filter(|word| !["*", "//", "///", "//!", "#"].contains(word));
        words.take(150).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn the_comment_names_the_place_of_the_data() {
        for (name, said) in [
            (
                "pwrite,cache=direct",
                "The data may be anywhere: each chunk is copied to aligned memory first",
            ),
            (
                "write,cache=direct,memory=page-aligned",
                "It needs its data at the start of a page. Elsewhere, each",
            ),
            (
                "pwritev,cache=direct,memory=huge-pages",
                "It needs its data in huge pages: madvise(MADV_HUGEPAGE)",
            ),
        ] {
            for language in [Language::C, Language::Cpp, Language::Rust, Language::Go] {
                let text = header(name, language, false);
                assert!(text.contains(said), "{name}: {text}");
            }
        }
        for (name, is_stream) in [
            ("pwrite", false),
            ("pwrite,cache=direct", true),
            ("read-write,cache=direct", false),
        ] {
            let text = header(name, Language::C, is_stream);
            assert!(!text.contains("aligned memory first"), "{name}: {text}");
        }
    }
}
