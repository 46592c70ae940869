/// The cause that disturbed a sample. The supervisor's reason contains the words, by which a recorded sample shows
/// its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DisturbedBy {
    Hypervisor,
    CpuLimit,
    Heat,
    ReturnedMemory,
    SlowMemory,
    /// The supervisor did not run: too little CPU time, or a suspended machine.
    Absent,
    /// The cause is a rare one whose reason says enough: a stopped worker, a frozen control group, a busy target.
    Other,
}

impl DisturbedBy {
    const ALL: [Self; 6] = [
        Self::Hypervisor,
        Self::CpuLimit,
        Self::Heat,
        Self::ReturnedMemory,
        Self::SlowMemory,
        Self::Absent,
    ];

    /// A part of the reason that no other kind has.
    pub fn words(self) -> &'static str {
        match self {
            Self::Hypervisor => "hypervisor took",
            Self::CpuLimit => "by its group's CPU limit",
            Self::Heat => "because of heat",
            Self::ReturnedMemory => "returned to the hypervisor",
            Self::SlowMemory => "slower than usual",
            Self::Absent => "writebench itself did not run",
            Self::Other => "",
        }
    }

    /// The kind of a recorded reason, which a rank's name may precede.
    pub fn from_reason(reason: &str) -> Self {
        Self::ALL
            .into_iter()
            .find(|kind| reason.contains(kind.words()))
            .unwrap_or(Self::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_of_the_kind_whose_words_it_has() {
        for kind in DisturbedBy::ALL {
            assert_eq!(
                DisturbedBy::from_reason(&format!("rank 1 on n0: it {} x", kind.words())),
                kind
            );
        }
        let stopped = "the worker was stopped by a signal for about 0.4 s";
        assert_eq!(DisturbedBy::from_reason(stopped), DisturbedBy::Other);
    }
}
