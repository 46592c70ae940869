use super::axis;
use super::data::{Chart, ChartKind, Interval, Point, Series, Unit, YAxis, YScale};
use crate::numbers::{ComparedCase, Comparison, distinct};

/// The speed of B over that of A. Points are in the order of the comparison, and places from the least ratio. None
/// without a pair.
pub(crate) fn chart(comparison: &Comparison) -> Option<Chart> {
    let cases = &comparison.cases;
    let several = distinct(cases, |pair| pair.case.target.as_deref()).len() > 1;
    let mut sorted: Vec<usize> = (0..cases.len()).collect();
    sorted.sort_by(|&a, &b| ratio(&cases[a]).total_cmp(&ratio(&cases[b])));
    sorted.first()?;
    let names = sorted.iter().map(|&index| name(&cases[index], several));
    let x = axis::categories("case", names);
    let mut points: Vec<(usize, Point)> = sorted
        .iter()
        .zip(&x.ticks)
        .map(|(&index, tick)| (index, point(tick.at, &cases[index])))
        .collect();
    points.sort_by_key(|(index, _)| *index);
    Some(Chart {
        title: "Speed of B over A".to_owned(),
        subtitle: "Ratios of single runs. Above 1 B was faster".to_owned(),
        kind: ChartKind::Ratios,
        x,
        y: YAxis {
            label: "B / A".to_owned(),
            unit: Unit::Number,
            scale: YScale::Log10,
        },
        series: vec![Series {
            name: "B / A".to_owned(),
            points: points.into_iter().map(|(_, point)| point).collect(),
        }],
        notes: Vec::new(),
    })
}

fn ratio(pair: &ComparedCase) -> f64 {
    pair.speed_ratio.estimate
}

fn name(pair: &ComparedCase, several: bool) -> String {
    match pair.case.target.as_ref().filter(|_| several) {
        Some(target) => format!("{} on {target}", pair.case.case),
        None => pair.case.case.clone(),
    }
}

/// Two single runs prove no difference, so the ratio has no interval.
fn point(x: f64, pair: &ComparedCase) -> Point {
    let value = ratio(pair);
    Point {
        x,
        figure: Some(Interval {
            value,
            low: value,
            high: value,
        }),
        all_disturbed: false,
        case: pair.case.case.clone(),
        row: 0,
        dots: Vec::new(),
        words: None,
        samples: 0,
        plain: None,
    }
}
