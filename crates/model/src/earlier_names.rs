//! Names of cases that earlier versions have recorded, which are read as those of today. `migrations/010.sql` does the same
//! for the names in databases that SQL compares.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};

use crate::method::Method;

/// The name of a case, or of its method alone, with today's name of the method. Other texts are unchanged.
pub fn todays_name(text: &str) -> Cow<'_, str> {
    let method_end = text.find(',').unwrap_or(text.len());
    let (method, rest) = text.split_at(method_end);
    match Method::from_name(method).map(Method::name) {
        Some(today) if today != method => format!("{today}{rest}").into(),
        _ => text.into(),
    }
}

pub(crate) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    Ok(todays_name(&text).into_owned())
}

pub(crate) fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    let texts = Vec::<String>::deserialize(from)?;
    Ok(texts
        .iter()
        .map(|text| todays_name(text).into_owned())
        .collect())
}

/// A text that may be a name.
pub(crate) fn label<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    Ok(text.map(|text| todays_name(&text).into_owned()))
}

/// A sentence with names in it.
pub(crate) fn sentence<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    let words: Vec<Cow<'_, str>> = text.split(' ').map(todays_name).collect();
    Ok(words.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::case_record::RecordedCase;
    use crate::constraint::Constraint;
    use crate::decision::ContestAnswer;
    use crate::target::Limit;

    #[test]
    fn a_name_of_an_earlier_version_is_read_as_todays() {
        for (earlier, today) in [
            ("uring", "io_uring"),
            ("uring,size=1MiB,depth=4", "io_uring,size=1MiB,depth=4"),
            ("uring-files,depth=2", "io_uring-files,depth=2"),
            ("uring-copy,depth=2", "io_uring-copy,depth=2"),
        ] {
            assert_eq!(todays_name(earlier), today);
            assert_eq!(Case::parse(earlier), Case::parse(today));
            assert_eq!(Case::parse(earlier).unwrap().to_string(), today);
        }
        for text in [
            "io_uring,depth=4",
            "write",
            "uring speed",
            "",
            "a label, uring",
        ] {
            assert_eq!(todays_name(text), text);
        }
    }

    #[test]
    fn what_was_recorded_with_an_earlier_name_is_that_of_today() {
        let today: RecordedCase = Case::parse("io_uring,depth=4").unwrap().into();
        let earlier = serde_json::to_string(&today)
            .unwrap()
            .replace("io_uring", "uring");
        let mut read: RecordedCase = serde_json::from_str(&earlier).unwrap();
        read.resolve();
        assert_eq!(read, today);
        let newer = r#"{"name":"uring,new=1","method":"uring","axes":{"new":"1"}}"#;
        let mut unknown: RecordedCase = serde_json::from_str(newer).unwrap();
        unknown.resolve();
        assert_eq!(
            (unknown.name(), unknown.method(), unknown.known()),
            ("io_uring,new=1", "io_uring", None)
        );
        let answer = r#"{"case":"uring","bound_ppm":0,"as_good":["write","uring-copy"]}"#;
        let answer: ContestAnswer = serde_json::from_str(answer).unwrap();
        assert_eq!(answer.case, "io_uring");
        assert_eq!(answer.as_good, ["write", "io_uring-copy"]);
        let limit = r#"{"kind":"device-write","threads":1,"bytes_per_s":1,
            "how":"best of phase write of uring,size=1MiB,depth=4"}"#;
        let limit: Limit = serde_json::from_str(limit).unwrap();
        assert_eq!(
            limit.description,
            "best of phase write of io_uring,size=1MiB,depth=4"
        );
        let without: Constraint = serde_json::from_str(r#""--without uring""#).unwrap();
        assert_eq!(without.to_string(), "--without io_uring");
    }
}
