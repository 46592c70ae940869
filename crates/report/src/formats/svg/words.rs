use crate::charts::{Chart, Interval, Scale, Unit, XScale, value_text};

/// The chart in words, for people who cannot see the picture.
pub(super) fn description(chart: &Chart) -> String {
    let mut text = format!(
        "{} by {}. {}.",
        axis_title(chart, &Scale::for_chart(chart)),
        chart.x.label,
        chart.subtitle
    );
    for series in &chart.series {
        let with_figures = || {
            series.points.iter().filter_map(|point| {
                let median = point.figure?.value;
                Some(format!(
                    "{} at {}",
                    value_text(median, chart.y.unit),
                    place_text(chart, point.x)
                ))
            })
        };
        let name = &series.name;
        match (with_figures().next(), with_figures().next_back()) {
            (Some(first), Some(last)) if first != last => {
                text += &format!(" {name}: from {first} to {last}.");
            }
            (Some(only), _) => text += &format!(" {name}: {only}."),
            (None, _) => text += &format!(" {name}: no result."),
        }
    }
    text
}

pub(super) fn place_text(chart: &Chart, at: f64) -> String {
    let tick = chart
        .x
        .ticks
        .iter()
        .find(|tick| tick.at.total_cmp(&at).is_eq());
    match (tick, chart.x.scale) {
        (Some(tick), _) => tick.text.clone(),
        (None, XScale::Linear) => value_text(at, Unit::Seconds),
        (None, XScale::Percentile) => {
            // Enough digits to distinguish neighbours.
            let digits = (1u8..=7).filter(|&nines| at > nines.into()).count();
            format!("{:.*} %", digits + 1, (1.0 - 10.0_f64.powf(-at)) * 100.0)
        }
        (None, XScale::Log2 | XScale::Categories) => at.to_string(),
    }
}

/// The scale may be that of several charts.
pub(super) fn axis_title(chart: &Chart, scale: &Scale) -> String {
    if scale.is_logarithmic() {
        format!("{} (logarithmic)", chart.y.label)
    } else {
        chart.y.label.clone()
    }
}

pub(super) fn figure_text(chart: &Chart, figure: &Interval) -> String {
    let text = |value| value_text(value, chart.y.unit);
    if !figure.has_width() {
        return text(figure.value);
    }
    format!(
        "{} ({} to {})",
        text(figure.value),
        text(figure.low),
        text(figure.high)
    )
}
