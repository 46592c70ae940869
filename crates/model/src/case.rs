//! A case and its name.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::axis::{Axis, Choices, Given};
use crate::data::Data;
use crate::file_set::FileSize;
use crate::kernel::KernelChange;
use crate::method::{Copying, Cursor, Method};
use crate::quantity::{Bytes, Range, Stride, split};
use crate::similar::unknown;
use crate::strategy::Strategy;
use crate::sync::SyncCall;
use crate::value::{
    Access, AllocateCall, Cache, DataMemory, Directory, FileLayout, Files, Holes, Naming, Origin,
    Prepare, Protect, Source, SyncFiles,
};
use crate::value_card::ValueCard;
use crate::workload::{
    Content, DataSource, Durability, Pages, Shortfall, Start, Torn, Visibility, Workload,
};

/// One fully specified experiment. [`Case::new`] refuses invalid combinations.
///
/// The name is `method[,axis=value…]`, with values that differ from the method's defaults in the order of
/// [`Axis::ALL`]. It is also the serde form.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Case {
    given: Given,
    strategy: Strategy,
}

impl TryFrom<String> for Case {
    type Error = CaseError;

    fn try_from(name: String) -> Result<Self, CaseError> {
        Self::parse(&name)
    }
}

impl From<Case> for String {
    fn from(case: Case) -> Self {
        case.to_string()
    }
}

/// The text of a value for an axis.
pub type Assignment<'a> = (Axis, &'a str);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// An unknown method, axis or value. The message names the accepted ones.
    #[error("{0}")]
    Unknown(String),
    /// Values contradict each other. The message names the axis to change.
    #[error("{0}")]
    Contradiction(String),
}

/// Why a case does not answer a workload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Unfit {
    #[error("{0}")]
    FallsShort(Shortfall),
    #[error("it makes a sync that the workload does not ask for")]
    SyncsInVain,
    #[error("it protects pages that the workload lets a power loss tear")]
    ProtectsInVain,
}

impl Case {
    /// The case of `method` with these values, and defaults elsewhere.
    pub fn new<V: AsRef<str>>(
        method: Method,
        assignments: &[(Axis, V)],
    ) -> Result<Self, CaseError> {
        let mut case = Self::default_of(method);
        for (index, &(axis, ref value)) in assignments.iter().enumerate() {
            if assignments[..index]
                .iter()
                .any(|(earlier, _)| *earlier == axis)
            {
                return Err(CaseError::Unknown(format!("{axis} is given twice")));
            }
            case.set(axis, value.as_ref())?;
        }
        case.check()?;
        Ok(case)
    }

    fn default_of(method: Method) -> Self {
        Self {
            given: Given::default(),
            strategy: Strategy::default_of(method),
        }
    }

    fn set(&mut self, axis: Axis, value: &str) -> Result<(), CaseError> {
        if !self.method().has_axis(axis) {
            return Err(unknown_axis(axis.name(), self.method()));
        }
        axis.set(&mut self.given, &mut self.strategy.choices, value)
            .map_err(CaseError::Unknown)
    }

    /// The method's example, where these values replace those of the card.
    pub fn example(method: Method, values: &[Assignment<'_>]) -> Result<Self, CaseError> {
        let rest = method
            .card()
            .example
            .iter()
            .filter(|(axis, _)| values.iter().all(|(given, _)| given != axis));
        let assignments: Vec<Assignment<'_>> = values.iter().chain(rest).copied().collect();
        Self::new(method, &assignments)
    }

    /// Reads a case's name, in which the axes may have any order.
    pub fn parse(text: &str) -> Result<Self, CaseError> {
        let (method, assignments) = parse_name(text)?;
        Self::new(method, &assignments)
    }

    /// What the strategy is given.
    pub fn given(&self) -> &Given {
        &self.given
    }

    pub fn method(&self) -> Method {
        self.strategy.method
    }

    /// The choices of the strategy.
    pub fn choices(&self) -> &Choices {
        &self.strategy.choices
    }

    /// The text of a value, which the method may not have.
    pub fn value(&self, axis: Axis) -> String {
        axis.text(&self.given, &self.strategy.choices)
    }

    /// What a value means to people, to fio and to printed code.
    pub fn card(&self, axis: Axis) -> ValueCard {
        axis.card(&self.given, &self.strategy.choices)
    }

    /// The values that a kernel treats otherwise than those before it, as `axis=value`.
    pub fn kernel_changes(&self) -> impl Iterator<Item = (String, KernelChange)> + '_ {
        self.chosen_axes().filter_map(|axis| {
            let change = self.card(axis).kernel?;
            Some((format!("{}={}", axis.name(), self.value(axis)), change))
        })
    }

    /// The same strategy for other bytes.
    ///
    /// # Errors
    ///
    /// A choice contradicts the size.
    pub fn with_size(&self, size_bytes: u64) -> Result<Self, CaseError> {
        let mut case = self.clone();
        case.given.size_bytes = size_bytes;
        case.check()?;
        Ok(case)
    }

    /// The same case with another value on one axis.
    pub fn with(&self, axis: Axis, value: &str) -> Result<Self, CaseError> {
        let mut case = self.clone();
        case.set(axis, value)?;
        case.check()?;
        Ok(case)
    }

    /// The same case with other values on several axes.
    pub(crate) fn with_all(&self, values: &[(Axis, String)]) -> Result<Self, CaseError> {
        let mut case = self.clone();
        values
            .iter()
            .try_for_each(|(axis, value)| case.set(*axis, value))?;
        case.check()?;
        Ok(case)
    }

    /// The axes whose values differ from the method's defaults.
    pub fn chosen_axes(&self) -> impl Iterator<Item = Axis> + '_ {
        self.method()
            .own_axes()
            .filter(|&axis| self.is_chosen(axis))
    }

    fn is_chosen(&self, axis: Axis) -> bool {
        self.value(axis) != Self::default_of(self.method()).value(axis)
    }

    /// The method's axes on which another case has other values.
    fn differing_axes(&self, other: &Self) -> impl Iterator<Item = Axis> {
        self.method()
            .own_axes()
            .filter(|&axis| self.value(axis) != other.value(axis))
    }

    /// A programmer's effort, in points: the method's, plus that of each chosen value.
    pub fn effort(&self) -> u32 {
        self.method().card().effort
            + self
                .chosen_axes()
                .map(|axis| self.card(axis).effort)
                .sum::<u32>()
    }

    /// The measure by which a case is simpler than another one: less effort, or the same with fewer choices.
    pub fn complexity(&self) -> (u32, usize) {
        (self.effort(), self.chosen_axes().count())
    }

    /// The same case with one choice less: a value, or the method, is again the baseline's. Values that
    /// need the choice are dropped with it. The workload remains, or becomes the baseline's. Each makes other calls
    /// than this case, the baseline and the others.
    pub fn simplifications(&self, baseline: &Self) -> Vec<Self> {
        let without_value = self
            .differing_axes(baseline)
            .filter_map(|axis| self.simplified(baseline, self.method(), &[axis]));
        let without_method = if self.method() == baseline.method() {
            None
        } else {
            self.simplified(baseline, baseline.method(), &[])
        };
        let mut known = vec![self.canonical(), baseline.canonical()];
        let mut simpler: Vec<Self> = Vec::new();
        for case in without_value
            .chain(without_method)
            .filter(|case| case.complexity() < self.complexity())
            .filter(|case| !case.has_needless_vector())
        {
            let canonical = case.canonical();
            if !known.contains(&canonical) {
                known.push(canonical);
                simpler.push(case);
            }
        }
        simpler
    }

    /// This case with another method or without its values on some axes. If that is impossible, one more value is
    /// dropped.
    fn simplified(&self, baseline: &Self, method: Method, dropped: &[Axis]) -> Option<Self> {
        self.without(baseline, method, dropped).or_else(|| {
            self.differing_axes(baseline)
                .find_map(|other| self.without(baseline, method, &[dropped, &[other]].concat()))
        })
    }

    /// This case with `method`, where the baseline's values or the method's defaults replace those that it cannot keep.
    /// None if they contradict each other, or if the workload is neither this case's nor the baseline's.
    fn without(&self, baseline: &Self, method: Method, dropped: &[Axis]) -> Option<Self> {
        let workloads = [baseline.workload(), self.workload()];
        [baseline, &Self::default_of(method)]
            .into_iter()
            .find_map(|replacements| {
                let values: Vec<(Axis, String)> = method
                    .own_axes()
                    .map(|axis| {
                        let is_kept = self.keeps_value(axis, method, dropped);
                        let from = if is_kept { self } else { replacements };
                        (axis, from.value(axis))
                    })
                    .collect();
                Self::new(method, &values)
                    .ok()
                    .filter(|case| workloads.contains(&case.workload()))
            })
    }

    /// Whether this case keeps its value on an axis when it gets the method and drops its values on other axes.
    fn keeps_value(&self, axis: Axis, method: Method, dropped: &[Axis]) -> bool {
        // One thread has nothing to share.
        let is_about_sharing = matches!(axis, Axis::Descriptor | Axis::Map | Axis::Files);
        let is_dropped =
            dropped.contains(&axis) || is_about_sharing && dropped.contains(&Axis::Threads);
        // Another method has its own defaults.
        let is_intended = method == self.method() || axis == Axis::Size || self.is_chosen(axis);
        self.method().has_axis(axis) && is_intended && !is_dropped
    }

    /// Whether the other case has the same method and makes at least the choices of this one.
    pub fn is_part_of(&self, other: &Self) -> bool {
        self.method() == other.method()
            && self
                .chosen_axes()
                .all(|axis| self.value(axis) == other.value(axis))
    }

    /// The number of files that a sample writes.
    pub fn file_count(&self) -> u32 {
        match self.strategy.choices.files {
            _ if self.method().writes_set() => {
                u32::try_from(self.given.file_size.count(self.given.size_bytes)).unwrap_or(u32::MAX)
            }
            Files::Shared => 1,
            Files::PerThread => self.thread_count(),
            Files::PerRank => self.strategy.choices.ranks,
        }
    }

    /// The threads of all ranks together.
    pub fn thread_count(&self) -> u32 {
        self.strategy
            .choices
            .ranks
            .saturating_mul(self.strategy.choices.threads)
    }

    /// The state of the file after this case.
    pub fn workload(&self) -> Workload {
        let choices = &self.strategy.choices;
        let content = self.content();
        Workload {
            zero_percent: if content == Content::Random {
                self.given.data.zero_percent()
            } else {
                0
            },
            content,
            bytes: self.given.size_bytes,
            files: self.file_count(),
            file_size: self.method().writes_set().then_some(self.given.file_size),
            visibility: match choices.naming {
                Naming::Direct => Visibility::Partial,
                Naming::Rename
                | Naming::Exchange
                | Naming::ExchangeBackground
                | Naming::Tmpfile => Visibility::Complete,
            },
            start: if choices.prepare.needs_old_content() {
                Start::Existing
            } else {
                Start::New
            },
            source: self.data_source(),
            // A producer fills memory of the writer's choice.
            memory: if self.given.source == Source::Chunk {
                DataMemory::Any
            } else {
                self.given.memory
            },
            checksums: self.given.checksums,
            durability: self.durability(),
            durable_every_bytes: self.durable_every_bytes(),
            records_per_s: self.given.records_per_s,
            pages: self.pages(),
        }
    }

    fn pages(&self) -> Option<Pages> {
        let access = self.given.access;
        (access != Access::Sequential).then_some(Pages {
            access,
            bytes: self.strategy.choices.chunk_size_bytes,
            torn: match self.strategy.choices.protect {
                Protect::None => Torn::Allowed,
                Protect::RwfAtomic | Protect::DoubleWrite => Torn::Never,
            },
        })
    }

    /// The pages of a commit. None if data is not written as pages at random places.
    pub fn commit_pages(&self) -> Option<u32> {
        (self.given.access != Access::Sequential)
            .then_some(self.strategy.choices.sync.every)
            .flatten()
    }

    fn content(&self) -> Content {
        let card = self.method().card();
        match (card.copying, card.cursor, self.given.data) {
            _ if self.method() == Method::Null => Content::Nothing,
            (Some(Copying::Bytes), ..) => match self.given.holes {
                Holes::Fill => Content::Copy,
                Holes::Keep => Content::Sparse,
            },
            (Some(Copying::Blocks), ..) => Content::SharedCopy,
            (None, Cursor::NoData, _) if self.strategy.choices.call.gives_blocks() => {
                Content::Reserved
            }
            (None, Cursor::NoData, _) => Content::Hole,
            (None, _, Data::Random | Data::Compressible(_)) => Content::Random,
            (None, _, Data::Zero) => Content::Zero,
        }
    }

    fn data_source(&self) -> DataSource {
        match (
            self.method().card().copying,
            self.given.source,
            self.given.origin,
        ) {
            (Some(_), _, Origin::Warm) => DataSource::WarmFile,
            (Some(_), _, Origin::Cold) => DataSource::ColdFile,
            (None, Source::File, _) => DataSource::Memory,
            (None, Source::Chunk, _) => DataSource::Chunk,
        }
    }

    fn durability(&self) -> Durability {
        match (self.strategy.choices.sync.call, self.strategy.choices.cache) {
            _ if self.strategy.choices.sync_files != SyncFiles::None => Durability::Durable,
            (SyncCall::None, Cache::Direct) => Durability::Device,
            (SyncCall::None, Cache::Buffered | Cache::Dontcache) => Durability::Cached,
            _ => Durability::Durable,
        }
    }

    /// Whether this case does the work of a workload, and no more syncs than that asks for.
    ///
    /// # Errors
    ///
    /// The first property of the workload that it lacks, or that it syncs too often.
    pub fn answers(&self, workload: &Workload) -> Result<(), Unfit> {
        let own = self.workload();
        own.check(workload).map_err(Unfit::FallsShort)?;
        let syncs_in_vain =
            own.durability == Durability::Durable && workload.durability != Durability::Durable;
        let syncs_on_the_way = self.choices().sync.every.is_some();
        if syncs_in_vain || syncs_on_the_way && workload.durable_every_bytes.is_none() {
            return Err(Unfit::SyncsInVain);
        }
        let is_protected = self.choices().protect != Protect::None;
        if is_protected && own.pages != workload.pages {
            return Err(Unfit::ProtectsInVain);
        }
        Ok(())
    }

    /// Whether the name of a new file must be durable too, by a sync of its directory. A set syncs its own, and a
    /// program makes its own calls.
    pub fn makes_durable_name(&self) -> bool {
        let has_own_syncs = self.method().writes_set() || self.method().is_program();
        !has_own_syncs
            && self.workload().durability == Durability::Durable
            && !self.strategy.choices.prepare.needs_old_content()
    }

    /// The chunks of a vector, or one for methods without vectors.
    pub(crate) fn chunks_per_call(&self) -> u64 {
        if self.method().has_axis(Axis::Vector) {
            u64::from(self.strategy.choices.vector)
        } else {
            1
        }
    }

    /// The most chunks of a thread in flight.
    fn most_chunks_in_flight(&self) -> u64 {
        let most_calls = if self.method().has_axis(Axis::Depth) {
            u64::from(self.strategy.choices.depth)
        } else {
            1
        };
        most_calls * self.chunks_per_call()
    }

    /// The bytes handed over between two moments at which all earlier data is durable. None if the end is the only such
    /// moment.
    fn durable_every_bytes(&self) -> Option<u64> {
        let choices = &self.strategy.choices;
        let chunks = match choices.sync.every.map(u64::from) {
            // All pages of a commit are awaited.
            Some(every) if self.commit_pages().is_some() => every,
            // Operations in flight complete in any order.
            Some(1) => self.most_chunks_in_flight(),
            // A multiple of the vector, because a sync covers whole calls.
            Some(every) => every,
            None if choices.sync.call.is_write_through() => self.most_chunks_in_flight(),
            None => return None,
        };
        let bytes = choices.chunk_size_bytes.saturating_mul(chunks);
        (bytes
            < self
                .given
                .size_bytes
                .div_ceil(u64::from(self.thread_count())))
        .then_some(bytes)
    }

    /// The bytes of a record, or of a file in a set. A sample of a smaller size than the case's has whole ones.
    pub fn unit_bytes(&self) -> Option<u64> {
        match self.given.file_size {
            FileSize::Each(bytes) if self.method().writes_set() => Some(bytes),
            _ => self.durable_every_bytes(),
        }
    }

    /// The range of each thread of each rank, with borders at chunks or windows. A strided range has the
    /// offset of its first block and the length of all its blocks.
    pub fn ranges(&self) -> Vec<Range> {
        let threads = self.thread_count();
        let size_bytes = self.given.size_bytes;
        match self.stride() {
            _ if self.method().writes_set() => self.ranges_of_files(),
            Some(stride) => (0..threads)
                .map(|thread| stride.range(size_bytes, u64::from(thread)))
                .collect(),
            None => {
                let chunk = if self.method().has_axis(Axis::Chunk) {
                    self.strategy.choices.chunk_size_bytes
                } else {
                    0
                };
                split(
                    size_bytes,
                    threads,
                    self.strategy
                        .choices
                        .prepared_window_bytes()
                        .unwrap_or(chunk),
                )
            }
        }
    }

    /// The range of each thread in the data of a set. Threads have equally many files, or one more.
    fn ranges_of_files(&self) -> Vec<Range> {
        let size_bytes = self.given.size_bytes;
        let threads = u64::from(self.thread_count());
        let files = u64::from(self.file_count());
        let mut file_ends = self
            .given
            .file_size
            .files(size_bytes)
            .map(|file| file.offset + file.length);
        let mut ranges = Vec::new();
        let mut offset = 0;
        let mut first_file = 0;
        for thread in 0..threads {
            let next_threads_file = files * (thread + 1) / threads;
            let own_files = usize::try_from(next_threads_file - first_file).unwrap_or(usize::MAX);
            let end = match own_files.checked_sub(1) {
                Some(last) => file_ends.nth(last).unwrap_or(size_bytes),
                None => offset,
            };
            ranges.push(Range {
                offset,
                length: end - offset,
            });
            offset = end;
            first_file = next_threads_file;
        }
        ranges
    }

    /// The most space of one sample. Each file of a set takes whole blocks and an inode, and an old file
    /// remains until it is replaced.
    pub fn space_bytes(&self) -> u64 {
        const EACH_FILE_BYTES: u64 = 8 << 10;
        let size_bytes = self.given.size_bytes;
        // A clone takes metadata only.
        if self.workload().content == Content::SharedCopy
            && !self.strategy.choices.prepare.needs_old_content()
        {
            return 0;
        }
        if !self.method().writes_set() {
            let ahead = if self.strategy.choices.prepare == Prepare::FallocateAhead {
                Prepare::AHEAD_BYTES
            } else {
                0
            };
            return size_bytes
                .saturating_add(ahead.saturating_mul(self.file_count().into()))
                .saturating_add(self.journal_bytes());
        }
        self.most_inodes()
            .saturating_mul(EACH_FILE_BYTES)
            .saturating_add(size_bytes.saturating_mul(self.files_at_a_name()))
    }

    /// The most files and directories of one sample.
    pub fn most_inodes(&self) -> u64 {
        let files = u64::from(self.file_count());
        let directories = match self.strategy.choices.directory {
            _ if !self.method().writes_set() => return files,
            Directory::One => 1,
            Directory::PerThread => 1 + u64::from(self.thread_count()),
            Directory::FanOut => {
                1 + u64::from(self.thread_count()) + files / Directory::FAN_OUT_FILES as u64
            }
        };
        files * self.files_at_a_name() + directories
    }

    /// The number of files that exist at the same time for each name: 2 if an old file remains until a new one has its
    /// name.
    fn files_at_a_name(&self) -> u64 {
        if self.strategy.choices.naming != Naming::Direct
            && self.strategy.choices.prepare.needs_old_content()
        {
            2
        } else {
            1
        }
    }

    /// The distance between a thread's blocks in a strided file.
    pub fn stride(&self) -> Option<Stride> {
        let Choices {
            layout,
            block_bytes,
            ..
        } = self.strategy.choices;
        let step_bytes = block_bytes.saturating_mul(u64::from(self.thread_count()));
        (layout == FileLayout::Strided).then_some(Stride {
            block_bytes,
            step_bytes,
        })
    }

    /// The call between open(2) and the first write, in phase `prepare`. A copy that keeps holes needs the length first.
    pub fn preparing_call(&self) -> Option<AllocateCall> {
        match self.given.holes {
            Holes::Fill => self.strategy.choices.prepare.call(),
            Holes::Keep => Some(AllocateCall::Ftruncate),
        }
    }

    /// Whether there is work between open(2) and the first write, in phase `prepare`.
    pub fn has_preparing_step(&self) -> bool {
        self.strategy.choices.prepare.has_step() || self.preparing_call().is_some()
    }

    /// The most bytes of one sample to the target, old content and zeros included.
    pub fn bytes_written(&self) -> u64 {
        let size_bytes = self.given.size_bytes;
        let new_bytes = if self.method().writes_data() {
            size_bytes
        } else {
            0
        };
        let prepare = self.strategy.choices.prepare;
        // Each page is also written to the journal.
        let new_bytes = match self.strategy.choices.protect {
            Protect::DoubleWrite => new_bytes.saturating_mul(2),
            Protect::None | Protect::RwfAtomic => new_bytes,
        };
        let earlier_bytes = if prepare.needs_old_content() || prepare == Prepare::ZeroFill {
            size_bytes
        } else {
            0
        };
        new_bytes.saturating_add(earlier_bytes)
    }

    /// The bytes of the journal of a double write: one commit, with its head.
    pub fn journal_bytes(&self) -> u64 {
        match (self.strategy.choices.protect, self.commit_pages()) {
            (Protect::DoubleWrite, Some(pages)) => u64::from(pages)
                .saturating_mul(self.strategy.choices.chunk_size_bytes)
                .saturating_add(Self::journal_head_bytes(pages.into())),
            _ => 0,
        }
    }

    /// The blocks before a commit of so many pages in a journal. They have a word for the place of each page, and two
    /// more.
    pub fn journal_head_bytes(pages: u64) -> u64 {
        const BLOCK_BYTES: u64 = 4096;
        const WORD_BYTES: u64 = 8;
        pages
            .saturating_add(2)
            .saturating_mul(WORD_BYTES)
            .next_multiple_of(BLOCK_BYTES)
    }

    /// The size of one rank's source memory.
    pub fn source_bytes(&self) -> u64 {
        let chunk = self
            .strategy
            .choices
            .chunk_size_bytes
            .min(self.given.size_bytes);
        let card = self.method().card();
        match self.given.source {
            _ if card.has_buffer => {
                let threads = u64::from(self.strategy.choices.threads.max(1));
                let each = chunk.min(self.given.size_bytes.div_ceil(threads));
                each.saturating_mul(threads)
                    .saturating_mul(self.most_chunks_in_flight())
            }
            _ if card.cursor == Cursor::NoData || self.method().has_source_file() => 0,
            Source::File => self.most_bytes_of_a_rank(),
            Source::Chunk => chunk,
        }
    }

    fn most_bytes_of_a_rank(&self) -> u64 {
        let threads_per_rank = self.strategy.choices.threads.max(1) as usize;
        self.ranges()
            .chunks(threads_per_rank)
            .map(|own| own.iter().map(|range| range.length).sum())
            .max()
            .unwrap_or(0)
    }

    /// Whether each direct write copies its data into aligned memory first.
    pub fn is_staged(&self) -> bool {
        self.choices().is_staged(&self.given)
    }

    /// The size of one rank's aligned memory for direct I/O from unaligned data.
    pub fn staged_bytes(&self) -> u64 {
        if !(self.method().has_axis(Axis::Memory) && self.is_staged()) {
            return 0;
        }
        let longest = self
            .ranges()
            .iter()
            .map(|range| range.length)
            .max()
            .unwrap_or(0);
        let each = self
            .strategy
            .choices
            .chunk_size_bytes
            .saturating_mul(self.most_chunks_in_flight())
            .min(longest);
        each.saturating_mul(u64::from(self.strategy.choices.threads))
    }
}

/// The parts of a case's name, or of its beginning.
pub(crate) fn parse_name(text: &str) -> Result<(Method, Vec<Assignment<'_>>), CaseError> {
    let mut parts = text.split(',');
    let name = parts.next().unwrap_or_default();
    let method = Method::from_name(name).ok_or_else(|| unknown_method(name))?;
    let assignments: Result<_, CaseError> = parts.map(|part| assignment(part, method)).collect();
    Ok((method, assignments?))
}

fn unknown_method(name: &str) -> CaseError {
    let names = Method::ALL.iter().map(|method| method.name());
    CaseError::Unknown(unknown("method", name, names, "writebench list methods"))
}

fn assignment<'t>(part: &'t str, method: Method) -> Result<Assignment<'t>, CaseError> {
    let Some((name, value)) = part.split_once('=') else {
        return Err(CaseError::Unknown(format!(
            "'{part}' is not of the form axis=value"
        )));
    };
    let axis = Axis::from_name(name).ok_or_else(|| unknown_axis(name, method))?;
    Ok((axis, value))
}

fn unknown_axis(name: &str, method: Method) -> CaseError {
    let lists = "writebench list methods";
    let Some(axis) = Axis::from_name(name) else {
        let names = method.own_axes().map(Axis::name);
        return CaseError::Unknown(unknown("axis", name, names, lists));
    };
    let with = Method::ALL.iter().filter(|method| method.has_axis(axis));
    let with: Vec<&str> = with.map(|method| method.name()).collect();
    let (first, rest) = with.split_at(with.len().min(3));
    let others = if rest.is_empty() { "" } else { " and others" };
    CaseError::Unknown(format!(
        "{method} has no axis '{axis}'. The axis belongs to {}{others}: see `{lists}`",
        first.join(", ")
    ))
}

/// The text is the case's name. With `{:#}`, its size has the unit with the shorter text.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method().name())?;
        self.chosen_axes().try_for_each(|axis| match axis {
            Axis::Size if f.alternate() => write!(f, ",{axis}={:#}", Bytes(self.given.size_bytes)),
            axis => write!(f, ",{axis}={}", self.value(axis)),
        })
    }
}
