use crate::value::named_values;

named_values! {
    /// The quantity of which a search finds the least.
    #[derive(Default)]
    Objective {
        #[default]
        Time = "time",
        /// User and system.
        Cpu = "cpu",
        /// Of the latency of records or files.
        P99 = "p99",
    }
}

impl Objective {
    /// `twice as … as`, and `no method was …`.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Self::Time => ["fast", "faster"],
            Self::Cpu => ["cheap in CPU time", "cheaper in CPU time"],
            Self::P99 => ["quick at p99", "quicker at p99"],
        }
    }
}
