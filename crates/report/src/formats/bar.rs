/// From one eighth of a cell to seven.
const PARTS: [char; 7] = ['▏', '▎', '▍', '▌', '▋', '▊', '▉'];

/// A positive share is always visible.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "up to eight times a few cells")]
pub(super) fn bar(share: f64, cells: usize) -> String {
    let least = f64::from(u8::from(share > 0.0));
    let eighths = (share.clamp(0.0, 1.0) * cells as f64 * 8.0).round().max(least) as usize;
    let mut text = "█".repeat(eighths / 8);
    text.extend((eighths % 8).checked_sub(1).map(|part| PARTS[part]));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn eighths(text: &str) -> usize {
        let length = |block| PARTS.iter().position(|part| *part == block).map_or(8, |part| part + 1);
        text.chars().map(length).sum()
    }

    #[test]
    fn zero_has_no_bar_and_the_maximum_a_full_one() {
        assert_eq!((bar(0.0, 8), bar(1.0, 8)), (String::new(), "████████".to_owned()));
        assert_eq!((bar(0.5, 3), bar(1e-9, 8)), ("█▌".to_owned(), "▏".to_owned()));
        assert_eq!((bar(f64::NAN, 8), bar(f64::INFINITY, 2)), (String::new(), "██".to_owned()));
    }

    proptest! {
        #[test]
        fn a_bar_is_as_long_as_its_share_and_fits(share in 0.0..=1.0, cells in 1_usize..40) {
            let text = bar(share, cells);
            prop_assert!(text.chars().count() <= cells);
            let (drawn, exact) = (eighths(&text) as f64, share * cells as f64 * 8.0);
            prop_assert!((drawn - exact).abs() <= 0.5 || (exact < 0.5 && drawn == 1.0), "{text}");
        }

        #[test]
        fn a_larger_share_has_no_shorter_bar(a in 0.0..=1.0, b in 0.0..=1.0, cells in 1_usize..40) {
            let (less, more) = if a <= b { (a, b) } else { (b, a) };
            prop_assert!(eighths(&bar(less, cells)) <= eighths(&bar(more, cells)));
        }
    }
}
