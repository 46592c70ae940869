//! Drawings that become a part of the page where they are seen, and how they and the data are packed.

use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::json;

use super::content::Suite;
use crate::formats::svg::Picture;

/// Drawings in plain text, in bytes: readers without scripts see the first ones, and more make a page slow.
const PLAIN: usize = 1 << 20;

/// The size at which a pack is full, in bytes of plain text. A script unpacks a pack for one of its charts.
const PACK: usize = 1 << 19;

/// Drawings that most readers do not need: narrow ones, for phones and for columns side by side, and wide ones far below
/// in a large page.
#[derive(Default)]
pub(super) struct Packs {
    done: Vec<String>,
    plain_bytes: usize,
    /// The drawings of each chart in the next pack: the wide one if it is packed, and the narrow one.
    next: BTreeMap<String, [String; 2]>,
    next_bytes: usize,
}

impl Packs {
    pub(super) fn of(suites: &mut [Suite<'_>], ratios: &mut [Option<Picture>]) -> Vec<String> {
        let mut packs = Self::default();
        // The template expects them in the first pack.
        for (number, picture) in ratios.iter_mut().enumerate() {
            picture
                .iter_mut()
                .for_each(|picture| packs.add(format!("r{number}"), picture));
        }
        let sections = suites.iter_mut().flat_map(|suite| &mut suite.sections);
        let figures =
            sections.flat_map(|section| section.main.iter_mut().flatten().chain(&mut section.more));
        for figure in figures {
            if packs.next_bytes > PACK {
                packs.finish();
            }
            figure.pack = packs.done.len();
            packs.add(figure.number.to_string(), &mut figure.picture);
        }
        packs.finish();
        packs.done
    }

    fn add(&mut self, key: String, picture: &mut Picture) {
        let narrow = std::mem::take(&mut picture.narrow);
        let is_plain = self.plain_bytes < PLAIN;
        let wide = if is_plain {
            self.plain_bytes += picture.wide.len();
            String::new()
        } else {
            std::mem::take(&mut picture.wide)
        };
        self.next_bytes += wide.len() + narrow.len();
        self.next.insert(key, [wide, narrow]);
    }

    fn finish(&mut self) {
        let pack = std::mem::take(&mut self.next);
        self.next_bytes = 0;
        self.done.push(packed(&json!(pack).to_string()));
    }
}

/// Deflated, in base64, which is markup nowhere.
pub(super) fn packed(text: &str) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    let deflated = encoder
        .write_all(text.as_bytes())
        .and_then(|()| encoder.finish())
        .expect("the bytes are written to memory");
    STANDARD.encode(deflated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_drawings_beyond_the_first_megabyte_are_packed() {
        let mut packs = Packs::default();
        let picture = || Picture {
            wide: "w".repeat(PLAIN / 2 + 1),
            narrow: "n".to_owned(),
            legend: Vec::new(),
            marks: Vec::new(),
        };
        let mut pictures = [picture(), picture(), picture()];
        for (number, picture) in pictures.iter_mut().enumerate() {
            packs.add(number.to_string(), picture);
        }
        packs.finish();
        let plain = pictures.map(|picture| (picture.wide.len(), picture.narrow.len()));
        let all = PLAIN / 2 + 1;
        assert_eq!(plain, [(all, 0), (all, 0), (0, 0)]);
        let packed = STANDARD.decode(&packs.done[0]).unwrap();
        let packed: BTreeMap<String, [String; 2]> =
            serde_json::from_reader(flate2::read::DeflateDecoder::new(packed.as_slice())).unwrap();
        let lengths: Vec<[usize; 2]> = packed
            .values()
            .map(|drawings| [drawings[0].len(), drawings[1].len()])
            .collect();
        assert_eq!(lengths, [[0, 1], [0, 1], [all, 1]]);
    }
}
