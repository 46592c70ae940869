/// The result of a candidate's samples so far.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Known {
    Nothing,
    Failed,
    /// The logarithm of its time in a typical block, from so many samples.
    Time {
        log: f64,
        samples: usize,
    },
}

impl Known {
    /// The part of the time that was not expected.
    pub(super) fn less(self, expected: f64) -> Self {
        match self {
            Self::Time { log, samples } => Self::Time {
                log: log - expected,
                samples,
            },
            other => other,
        }
    }
}
