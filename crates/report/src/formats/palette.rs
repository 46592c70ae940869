//! Colours for light and dark surroundings.

use std::collections::BTreeSet;

use crate::charts::{Chart, ChartKind};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Colour<T = &'static str> {
    pub light: T,
    pub dark: T,
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

/// Okabe and Ito's colours, for any colour vision. On white, three are darker and the faint yellow is missing.
/// On black, all are lighter.
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

/// Prepare, open, write, sync, close. The longest phases, write and sync, differ the most.
const OF_PHASES: [Colour; 5] = [
    OF_SERIES[2],
    OF_SERIES[3],
    OF_SERIES[0],
    OF_SERIES[1],
    OF_SERIES[6],
];

/// Words on a heat map's colours.
const ON_FAINT: &str = "#000000";
const ON_STRONG: &str = "#ffffff";

/// Eyes cannot distinguish more.
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

/// In the order of series. See [`heat`] for heat maps.
pub(super) fn colours(chart: &Chart) -> Vec<Colour<String>> {
    (0..chart.series.len())
        .map(|index| colour(chart, index))
        .collect()
}

pub(super) fn colour(chart: &Chart, index: usize) -> Colour<String> {
    let own = match chart.kind {
        ChartKind::Stacked => &OF_PHASES[..],
        // Series are sizes: colours show their order.
        ChartKind::Groups | ChartKind::HeatMap => {
            let last = chart.series.len().saturating_sub(1).max(1);
            return mixed(&PLASMA, index, last);
        }
        _ => &OF_SERIES[..],
    };
    let Colour { light, dark } = own[index % own.len()];
    Colour {
        light: light.to_owned(),
        dark: dark.to_owned(),
    }
}

/// From the least to the most, which contrasts most with the paper.
pub(super) fn heat() -> [Colour<String>; HEAT_STEPS] {
    std::array::from_fn(|step| mixed(&HEAT, step, HEAT_STEPS - 1))
}

/// Legible on a heat map's colour. The class is for dark screens.
pub(super) fn ink_on(colour: &Colour<String>) -> [(&'static str, &'static str); 2] {
    let class = if ink(&colour.dark) == ON_FAINT {
        "wb-on-faint"
    } else {
        "wb-on-strong"
    };
    [("class", class), ("fill", ink(&colour.light))]
}

/// The higher contrast by the luminance of WCAG.
fn ink(colour: &str) -> &'static str {
    let rgb = u32::from_str_radix(colour.trim_start_matches('#'), 16).unwrap_or_default();
    let channel = |shift: u32| {
        let share = f64::from((rgb >> shift) & 0xff) / 255.0;
        if share <= 0.04045 {
            share / 12.92
        } else {
            ((share + 0.055) / 1.055).powf(2.4)
        }
    };
    let luminance = 0.2126 * channel(16) + 0.7152 * channel(8) + 0.0722 * channel(0);
    if luminance > 0.179 {
        ON_FAINT
    } else {
        ON_STRONG
    }
}

/// The class has the colour in its name: several pictures of a page agree.
pub(super) fn class(colour: &Colour<String>) -> String {
    format!("wb-{}", colour.light.trim_start_matches('#'))
}

/// `index` of `last` steps on a ramp.
fn mixed(ramp: &Colour<[[u8; 3]; 5]>, index: usize, last: usize) -> Colour<String> {
    let steps = ramp.light.len() - 1;
    let from = (index * steps / last).min(steps - 1);
    let behind = index * steps - from * last;
    let mixed = |ramp: &[[u8; 3]; 5]| {
        let mix = |(a, b): (&u8, &u8)| {
            (usize::from(*a) * (last - behind) + usize::from(*b) * behind) / last
        };
        let channels = ramp[from].iter().zip(&ramp[from + 1]).map(mix);
        channels.fold("#".to_owned(), |text, channel| {
            text + &format!("{channel:02x}")
        })
    };
    Colour {
        light: mixed(&ramp.light),
        dark: mixed(&ramp.dark),
    }
}

/// Paper is always white.
pub(super) fn dark_styles(chart: &Chart) -> String {
    let fills = [
        ("paper", PAPER),
        ("ink", INK),
        ("quiet", QUIET),
        ("stripe", STRIPE),
    ];
    let strokes = [("grid", GRID), ("axis", AXIS)];
    let mut rules = fills
        .map(|(name, colour)| format!(".wb-{name}{{fill:{}}}", colour.dark))
        .concat();
    rules += &strokes
        .map(|(name, colour)| format!(".wb-{name}{{stroke:{}}}", colour.dark))
        .concat();
    let used = if chart.kind == ChartKind::HeatMap {
        rules += &format!(".wb-on-faint{{fill:{ON_FAINT}}}.wb-on-strong{{fill:{ON_STRONG}}}");
        heat().to_vec()
    } else {
        colours(chart)
    };
    let rule = |colour: &Colour<String>| {
        format!(
            ".{}{{fill:{dark};stroke:{dark}}}",
            class(colour),
            dark = colour.dark
        )
    };
    rules.extend(used.iter().map(rule).collect::<BTreeSet<String>>());
    format!("@media screen and (prefers-color-scheme:dark){{{rules}}}")
}
