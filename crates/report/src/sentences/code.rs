use writebench_model::{Axis, Case, DataSource, Prepare, RecordedCase};
use writebench_snippets::{EmitOptions, Language, code};

/// How a case is printed as code. A producer's data is asked for in chunks, also where its length is not known first. A
/// set of files has a function for each.
pub fn emit_options(case: &Case) -> EmitOptions {
    let is_produced = case.workload().source == DataSource::Chunk;
    let is_ahead = case.choices().prepare == Prepare::FallocateAhead;
    let is_stream = (is_produced || is_ahead) && !case.method().writes_set();
    EmitOptions {
        is_stream,
        ..EmitOptions::default()
    }
}

/// The code of a case in each language that has it, or only in the language with the name `only`. Durable records get
/// the code of a log where a language has it.
pub(crate) fn codes(
    case: &Case,
    only: Option<&str>,
) -> Option<(EmitOptions, Vec<(Language, String)>)> {
    if case.choices().sync.is_on_the_way() {
        let log = EmitOptions {
            is_append: true,
            ..EmitOptions::default()
        };
        let codes = codes_with(log, case, only);
        if !codes.is_empty() {
            return Some((log, codes));
        }
    }
    let options = emit_options(case);
    let codes = codes_with(options, case, only);
    (!codes.is_empty()).then_some((options, codes))
}

fn codes_with(options: EmitOptions, case: &Case, only: Option<&str>) -> Vec<(Language, String)> {
    Language::ALL
        .iter()
        .filter(|language| only.is_none_or(|name| language.name() == name))
        .filter_map(|&language| Some((language, code(case, language, options).ok()?)))
        .collect()
}

/// The command that prints the case as code, and the first line of the function.
pub(crate) fn sentence(case: &Case, only: Option<&str>) -> Option<String> {
    let (options, codes) = codes(case, only)?;
    let ((first, text), others) = codes.split_first()?;
    let signature = first_line(text)?;
    let more: Vec<&str> = others.iter().map(|(language, _)| language.name()).collect();
    let more = if more.is_empty() {
        String::new()
    } else {
        format!(" (or in {})", more.join(", "))
    };
    // The function writes the given data.
    let name = RecordedCase::from(case.clone()).name_without(&[Axis::Size]);
    Some(format!(
        "To print it as code, `{}`{more}:\n  writebench code {name} {}",
        signature.trim().trim_end_matches(" {"),
        arguments(options, *first)
    ))
}

/// `--lang c --append`
fn arguments(options: EmitOptions, language: Language) -> String {
    let option = match options {
        EmitOptions {
            is_append: true, ..
        } => " --append",
        EmitOptions {
            is_stream: true, ..
        } => " --stream",
        _ => "",
    };
    format!("--lang {}{option}", language.name())
}

/// The arguments that print the case's usual code in the first language that has it, or in the one with the name `only`.
pub(crate) fn usual_arguments(case: &Case, only: Option<&str>) -> Option<String> {
    let (options, codes) = codes(case, only)?;
    let (language, _) = codes.first()?;
    Some(arguments(options, *language))
}

/// The names of the functions that a user calls, in the forms of all languages, without capitals and underscores.
const FUNCTIONS: [&str; 7] = [
    "writefile(",
    "writefiles(",
    "writestream(",
    "copyfile(",
    "logappend(",
    ") append(",
    " fn append(",
];

fn first_line(text: &str) -> Option<&str> {
    text.lines().find(|line| begins_function(line))
}

fn begins_function(line: &str) -> bool {
    let letters = line.to_lowercase().replace('_', "");
    !line.starts_with("static") && FUNCTIONS.iter().any(|function| letters.contains(function))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(name: &str) -> Case {
        Case::parse(name).unwrap()
    }

    #[test]
    fn the_function_and_the_command_that_prints_it_are_named() {
        let said = sentence(&case("write,prepare=fallocate"), None).unwrap();
        let begin = "To print it as code, `int write_file(const char *path, const void *data, size_t size)` (or in cpp";
        assert!(said.starts_with(begin), "{said}");
        let command = ":\n  writebench code write,prepare=fallocate --lang c";
        assert!(said.ends_with(command), "{said}");
        assert!(
            sentence(&case("read-write"), None)
                .unwrap()
                .contains("int copy_file(")
        );
        let set = sentence(&case("write-files,sync-files=batch"), None).unwrap();
        assert!(
            set.starts_with("To print it as code, `int write_files(const char *path,"),
            "{set}"
        );
        let replaced = "write-files,file-size=whole,naming=exchange,prepare=overwrite";
        assert!(
            sentence(&case(replaced), None)
                .unwrap()
                .starts_with("To print it as code, `int write_file(const char *path,")
        );
    }

    #[test]
    fn a_producers_code_is_a_stream_in_the_wanted_language() {
        let said = sentence(&case("write,source=chunk"), Some("python")).unwrap();
        assert!(
            said.ends_with("writebench code write,source=chunk --lang python --stream"),
            "{said}"
        );
    }

    #[test]
    fn durable_records_have_the_code_of_a_log() {
        for (language, function) in [
            (
                "c",
                "int log_append(struct log *log, const void *record, size_t size)",
            ),
            (
                "rust",
                "pub fn append(&self, record: &[u8]) -> io::Result<()>",
            ),
            ("go", "func (log *Log) Append(record []byte) error"),
        ] {
            let said = sentence(&case("write,chunk=512,sync=fdatasync/1"), Some(language)).unwrap();
            assert!(
                said.starts_with(&format!("To print it as code, `{function}`:")),
                "{said}"
            );
            assert!(
                said.ends_with(&format!("--lang {language} --append")),
                "{said}"
            );
        }
        let elsewhere =
            sentence(&case("write,chunk=512,sync=fdatasync/1"), Some("python")).unwrap();
        assert!(elsewhere.ends_with("--lang python"), "{elsewhere}");
    }

    #[test]
    fn a_case_without_code_has_no_sentence() {
        assert_eq!(sentence(&case("allocate"), None), None);
    }
}
