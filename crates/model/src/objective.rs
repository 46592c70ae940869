use crate::value::named_values;

named_values! {
    /// The quantity of which a search finds the least.
    #[derive(Default)]
    Objective {
        #[default]
        Time = "time",
        /// The CPU time in user mode and in the kernel.
        Cpu = "cpu",
        /// The 99th percentile of the latency of records or files.
        P99 = "p99",
        /// The bytes that reach the block device, with those of the filesystem's journal and metadata.
        DeviceBytes = "device-bytes",
    }
}

impl Objective {
    /// The words for `twice as … as` and for `no method was …`.
    pub fn words(self) -> [&'static str; 2] {
        match self {
            Self::Time => ["fast", "faster"],
            Self::Cpu => ["cheap in CPU time", "cheaper in CPU time"],
            Self::P99 => ["quick at p99", "quicker at p99"],
            Self::DeviceBytes => ["sparing of the device", "more sparing of the device"],
        }
    }
}
