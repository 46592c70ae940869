//! Colours for light and dark surroundings.

use std::collections::BTreeSet;

use crate::charts::{Chart, ChartKind};

/// A colour on white and on black.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour<T = &'static str> {
    pub light: T,
    pub dark: T,
}

impl Colour {
    fn owned(self) -> Colour<String> {
        Colour {
            light: self.light.to_owned(),
            dark: self.dark.to_owned(),
        }
    }
}

pub(super) const PAPER: Colour = Colour {
    light: "#ffffff",
    dark: "#0d1117",
};
pub(super) const INK: Colour = Colour {
    light: "#1f2328",
    dark: "#e6edf3",
};
pub(super) const QUIET: Colour = Colour {
    light: "#59636e",
    dark: "#9aa5b1",
};
pub(super) const GRID: Colour = Colour {
    light: "#dfe3e8",
    dark: "#2b323b",
};
pub(super) const AXIS: Colour = Colour {
    light: "#8b949e",
    dark: "#6e7681",
};
pub(super) const STRIPE: Colour = Colour {
    light: "#f4f6f8",
    dark: "#161b22",
};

/// The colours of series are Okabe and Ito's, for any colour vision. Three are darker on white, where the faint yellow
/// is missing. All are lighter on black.
pub(super) const OF_SERIES: [Colour; 7] = [
    Colour {
        light: "#0072b2",
        dark: "#4aa8e8",
    },
    Colour {
        light: "#d55e00",
        dark: "#ff8a3d",
    },
    Colour {
        light: "#009e73",
        dark: "#2ec99b",
    },
    Colour {
        light: "#b8578f",
        dark: "#e79ac5",
    },
    Colour {
        light: "#b57a00",
        dark: "#f0b93a",
    },
    Colour {
        light: "#3d93c9",
        dark: "#8fd3f7",
    },
    Colour {
        light: "#3b4148",
        dark: "#dce3ea",
    },
];

/// The plasma colours, without those that are invisible on white or black.
const PLASMA: Colour<[[u8; 3]; 5]> = Colour {
    light: [
        [13, 8, 135],
        [99, 0, 167],
        [166, 32, 152],
        [213, 84, 110],
        [237, 124, 74],
    ],
    dark: [
        [150, 70, 220],
        [205, 74, 150],
        [240, 112, 92],
        [253, 172, 51],
        [240, 249, 33],
    ],
};

/// The colours of the phases prepare, open, write, sync and close. The longest, write and sync, differ the most.
const PHASE_COLOURS: [Colour; 5] = [
    OF_SERIES[2],
    OF_SERIES[3],
    OF_SERIES[0],
    OF_SERIES[1],
    OF_SERIES[6],
];

/// The colours of words on a heat map's faint and strong colours.
const ON_FAINT: &str = "#000000";
const ON_STRONG: &str = "#ffffff";

/// The number of a heat map's colours. Eyes cannot distinguish more.
pub(super) const HEAT_STEPS: usize = 33;

const HEAT: Colour<[[u8; 3]; 5]> = Colour {
    light: [
        [238, 243, 250],
        [183, 211, 238],
        [106, 167, 216],
        [42, 116, 184],
        [12, 63, 122],
    ],
    dark: [
        [22, 36, 56],
        [31, 74, 122],
        [47, 127, 184],
        [111, 191, 220],
        [213, 242, 247],
    ],
};

/// A colour for each of the chart's series. A heat map has those of [`heat`] instead.
pub(super) fn colours(chart: &Chart) -> Vec<Colour<String>> {
    (0..chart.series.len())
        .map(|index| colour(chart, index))
        .collect()
}

pub(super) fn colour(chart: &Chart, index: usize) -> Colour<String> {
    let own = match chart.kind {
        ChartKind::Stacked => &PHASE_COLOURS[..],
        // Series are sizes: colours show their order.
        ChartKind::Groups | ChartKind::HeatMap => {
            let last = chart.series.len().saturating_sub(1).max(1);
            return mixed(&PLASMA, index, last);
        }
        _ => &OF_SERIES[..],
    };
    own[index % own.len()].owned()
}

/// The colours of a heat map, from that of the least value to that of the greatest, which contrasts most with the
/// paper.
pub(super) fn heat() -> [Colour<String>; HEAT_STEPS] {
    std::array::from_fn(|step| mixed(&HEAT, step, HEAT_STEPS - 1))
}

/// The attributes of words that are legible on a heat map's colour. The class is for dark screens.
pub(super) fn ink_on(colour: &Colour<String>) -> [(&'static str, &'static str); 2] {
    let class = if ink(&colour.dark) == ON_FAINT {
        "wb-on-faint"
    } else {
        "wb-on-strong"
    };
    [("class", class), ("fill", ink(&colour.light))]
}

/// The colour of words with the higher contrast to this colour, by the luminance of WCAG.
fn ink(colour: &str) -> &'static str {
    let rgb = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or_default();
    let luminance = 0.2126 * linear(rgb >> 16) + 0.7152 * linear(rgb >> 8) + 0.0722 * linear(rgb);
    if luminance > 0.179 {
        ON_FAINT
    } else {
        ON_STRONG
    }
}

/// The light of the channel in the lowest byte, from 0 to 1.
fn linear(rgb: u32) -> f64 {
    let share = f64::from(rgb & 0xff) / 255.0;
    if share <= 0.04045 {
        share / 12.92
    } else {
        ((share + 0.055) / 1.055).powf(2.4)
    }
}

/// The class of the colour, which is in its name, so that several pictures of a page agree.
pub(super) fn class(colour: &Colour<String>) -> String {
    format!("wb-{}", colour.light.trim_start_matches('#'))
}

/// The colour after `index` of `last` steps on a ramp.
fn mixed(ramp: &Colour<[[u8; 3]; 5]>, index: usize, last: usize) -> Colour<String> {
    Colour {
        light: mixed_on(&ramp.light, index, last),
        dark: mixed_on(&ramp.dark, index, last),
    }
}

fn mixed_on(ramp: &[[u8; 3]; 5], index: usize, last: usize) -> String {
    let sections = ramp.len() - 1;
    let section = (index * sections / last).min(sections - 1);
    let behind = index * sections - section * last;
    let mut text = "#".to_owned();
    for (from, to) in ramp[section].iter().zip(&ramp[section + 1]) {
        let channel = (usize::from(*from) * (last - behind) + usize::from(*to) * behind) / last;
        text += &format!("{channel:02x}");
    }
    text
}

/// Rules for dark screens in a document with the chart alone, whose attributes have the colours of paper.
pub(super) fn dark_styles(chart: &Chart) -> String {
    on_dark_screens(dark_rules(chart).collect())
}

/// Rules for a page with all charts, which have no such attributes.
pub(super) fn page_styles<'c>(charts: impl Iterator<Item = &'c Chart> + Clone) -> String {
    let light: BTreeSet<String> = charts
        .clone()
        .flat_map(|chart| rules(chart, |colour| colour.light))
        .collect();
    let dark = charts.flat_map(dark_rules);
    let light: String = light.into_iter().collect();
    light + &on_dark_screens(dark.collect())
}

fn on_dark_screens(rules: BTreeSet<String>) -> String {
    let rules: String = rules.into_iter().collect();
    format!("@media screen and (prefers-color-scheme:dark){{{rules}}}")
}

fn dark_rules(chart: &Chart) -> impl Iterator<Item = String> {
    let inks = [("faint", ON_FAINT), ("strong", ON_STRONG)];
    let inks = inks.map(|(name, ink)| format!(".wb-on-{name}{{fill:{ink}}}"));
    let is_heat_map = chart.kind == ChartKind::HeatMap;
    let inks = Some(inks).filter(|_| is_heat_map).into_iter().flatten();
    rules(chart, |colour| colour.dark).chain(inks)
}

/// The colours of classes. `of` chooses one of the two.
fn rules(chart: &Chart, of: fn(Colour<String>) -> String) -> impl Iterator<Item = String> {
    let fills = [
        ("paper", PAPER),
        ("ink", INK),
        ("quiet", QUIET),
        ("stripe", STRIPE),
    ];
    let strokes = [("grid", GRID), ("axis", AXIS), ("even", INK)];
    let fills = fills.map(|(name, colour)| format!(".wb-{name}{{fill:{}}}", of(colour.owned())));
    let strokes =
        strokes.map(|(name, colour)| format!(".wb-{name}{{stroke:{}}}", of(colour.owned())));
    let used = match chart.kind {
        ChartKind::HeatMap => heat().to_vec(),
        // Their marks have the colour of quiet text.
        ChartKind::Ratios => Vec::new(),
        _ => colours(chart),
    };
    let of_series = used.into_iter().map(move |colour| {
        let class = class(&colour);
        let colour = of(colour);
        format!(".{class}{{fill:{colour};stroke:{colour}}}")
    });
    fills.into_iter().chain(strokes).chain(of_series)
}
