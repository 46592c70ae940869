//! The templates of each language, and the cases that it cannot say.

pub(crate) mod c;
pub(crate) mod cpp;
pub(crate) mod go;
pub(crate) mod java;
pub(crate) mod node;
pub(crate) mod python;
pub(crate) mod rust;

/// Declares a language's templates: `Family = "path",`. Defines `render` and `has`.
macro_rules! templates {
    ($($family:ident = $path:tt,)*) => {
        $(
            #[derive(askama::Template)]
            #[template(path = $path, escape = "none")]
            struct $family<'w, 'c> {
                way: &'w crate::way::Way<'c>,
            }
        )*

        fn render(family: writebench_model::Family, way: &crate::way::Way<'_>) -> Option<String> {
            #[allow(unreachable_patterns, reason = "a language may have all families")]
            let text: askama::Result<String> = match family {
                $(writebench_model::Family::$family => askama::Template::render(&$family { way }),)*
                _ => return None,
            };
            // Templates of ours only fail where a formatter does.
            let text = text.expect("a template renders into memory");
            Some(crate::languages::tidied(&text))
        }

        fn has(family: writebench_model::Family) -> bool {
            #[allow(unreachable_patterns, reason = "a language may have all families")]
            match family {
                $(writebench_model::Family::$family => true,)*
                _ => false,
            }
        }
    };
}
use templates;

/// Without spaces at the ends of lines, and with one empty line at most: parts that a case does not have leave several.
fn tidied(text: &str) -> String {
    let mut tidy = String::new();
    for line in text.trim().lines().map(str::trim_end) {
        if !(line.is_empty() && tidy.ends_with("\n\n")) {
            tidy += line;
            tidy.push('\n');
        }
    }
    tidy
}
