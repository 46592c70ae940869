//! Cases as points, for the forecast of a search.

use writebench_model::{Axis, Case};
use writebench_stats::distinct;

/// Each case's value on each axis, by number. The method is an axis. Left out are axes on which all cases
/// agree, and the size. A case without an axis has a separate value there.
pub(super) fn coordinates(cases: &[&Case]) -> Vec<Vec<u16>> {
    let mut coordinates = vec![Vec::new(); cases.len()];
    let axes = Axis::ALL
        .iter()
        .filter(|&&axis| axis != Axis::Size)
        .map(|&axis| Some(axis));
    for axis in std::iter::once(None).chain(axes) {
        let text = |case: &&Case| match axis {
            None => case.method().name().to_owned(),
            Some(axis) if case.method().has_axis(axis) => case.value(axis),
            Some(_) => String::new(),
        };
        let texts: Vec<String> = cases.iter().map(text).collect();
        let different = distinct(&texts, |text| *text);
        if different.len() < 2 {
            continue;
        }
        for (point, text) in coordinates.iter_mut().zip(&texts) {
            let number = different.iter().position(|other| *other == text);
            let number = number.and_then(|number| u16::try_from(number).ok());
            point.push(number.unwrap_or(u16::MAX));
        }
    }
    coordinates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_differ_exactly_where_methods_or_values_do() {
        let case = |text| Case::parse(text).unwrap();
        let cases = [
            case("pwritev"),
            case("pwritev,threads=2,chunk=4KiB"),
            case("pwritev,chunk=4KiB,size=1MiB"),
            case("writev"),
        ];
        let cases: Vec<&Case> = cases.iter().collect();
        assert_eq!(
            coordinates(&cases),
            [[0, 0, 0], [0, 1, 1], [0, 1, 0], [1, 0, 0]]
        );
        assert_eq!(coordinates(&cases[..1]), [[0u16; 0]]);
    }
}
