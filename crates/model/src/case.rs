//! A case and its name.

use std::collections::BTreeMap;
use std::fmt;

use crate::axis::{AllocateCall, Axes, Axis, Data, Descriptor, Files, InvalidValue, MapSharing, Source, Sync};
use crate::bytes::Bytes;
use crate::contract::{Content, Contract, Durability, Start};
use crate::method::{Cursor, MethodInfo};

/// One fully specified experiment. Only combinations that make sense exist: every way to make a
/// case goes through [`Case::new`], which refuses the others and says what would fit.
///
/// Its name is `method[,axis=value…]` with what differs from the method's defaults, in the order of
/// [`Axis::ALL`], and parses back to the same case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Case {
    method: &'static MethodInfo,
    axes: Axes,
}

/// An axis and the text of its value.
pub type Assignment<'a> = (Axis, &'a str);

/// Why a text or a combination is no case.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CaseError {
    /// No method has that name.
    #[error("unknown method '{name}': expected one of {methods}")]
    UnknownMethod {
        /// What was given.
        name: String,
        /// What would fit.
        methods: String,
    },
    /// Not of the form `axis=value`.
    #[error("'{0}' is not of the form axis=value")]
    NotAnAssignment(String),
    /// No axis has that name.
    #[error("unknown axis '{name}': {method} has {axes}")]
    UnknownAxis {
        /// What was given.
        name: String,
        /// The method.
        method: &'static str,
        /// What would fit.
        axes: String,
    },
    /// The axis appears twice.
    #[error("{0} is given twice")]
    Repeated(Axis),
    /// The axis has no such value.
    #[error(transparent)]
    InvalidValue(#[from] InvalidValue),
    /// Values that cannot stand together.
    #[error("{axis}={value} does not go with {method}: {why}")]
    Contradiction {
        /// The axis to change.
        axis: Axis,
        /// Its value.
        value: String,
        /// The method.
        method: &'static str,
        /// Why not, and what would fit.
        why: String,
    },
}

impl Case {
    /// The case of `method` with these values, and defaults elsewhere.
    ///
    /// # Errors
    /// The method lacks an axis, an axis lacks a value, or the values contradict each other.
    pub fn new(method: &'static MethodInfo, assignments: &[Assignment<'_>]) -> Result<Self, CaseError> {
        let mut axes = Axes::defaults(method.prepares[0]);
        for (index, &(axis, value)) in assignments.iter().enumerate() {
            if !method.has_axis(axis) {
                return Err(CaseError::UnknownAxis {
                    name: axis.to_string(),
                    method: method.name,
                    axes: axis_names(method),
                });
            }
            if assignments[..index].iter().any(|&(earlier, _)| earlier == axis) {
                return Err(CaseError::Repeated(axis));
            }
            axes.set(axis, value)?;
        }
        let case = Self { method, axes };
        case.check()?;
        Ok(case)
    }

    /// Reads a case's name.
    ///
    /// # Errors
    /// The text names no method of `methods`, or as for [`Case::new`].
    pub fn parse(text: &str, methods: &[&'static MethodInfo]) -> Result<Self, CaseError> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default();
        let method =
            methods.iter().find(|method| method.name == name).ok_or_else(|| CaseError::UnknownMethod {
                name: name.to_owned(),
                methods: methods.iter().map(|method| method.name).collect::<Vec<_>>().join(", "),
            })?;
        let assignments = parts
            .map(|part| {
                let (axis, value) =
                    part.split_once('=').ok_or_else(|| CaseError::NotAnAssignment(part.to_owned()))?;
                let axis = Axis::from_name(axis).ok_or_else(|| CaseError::UnknownAxis {
                    name: axis.to_owned(),
                    method: method.name,
                    axes: axis_names(method),
                })?;
                Ok((axis, value))
            })
            .collect::<Result<Vec<_>, CaseError>>()?;
        Self::new(method, &assignments)
    }

    fn check(&self) -> Result<(), CaseError> {
        let Self { method, axes } = self;
        let refuse = |axis: Axis, why: String| {
            Err(CaseError::Contradiction { axis, value: axes.get(axis), method: method.name, why })
        };
        if !method.prepares.contains(&axes.prepare) {
            let fitting = method.prepares.iter().map(|prepare| prepare.name()).collect::<Vec<_>>().join(", ");
            return refuse(Axis::Prepare, format!("it can start from {fitting}"));
        }
        if !method.syncs.contains(&axes.sync) {
            let fitting = method.syncs.iter().map(|sync| sync.name()).collect::<Vec<_>>().join(", ");
            return refuse(Axis::Sync, format!("its data is reached by {fitting}"));
        }
        let reserves = axes.allocating_call(method).is_some_and(|call| call != AllocateCall::Ftruncate);
        if axes.size_bytes == 0 && (method.cursor == Cursor::Mapping || reserves) {
            return refuse(
                Axis::Size,
                "mapping or reserving nothing is an error; give at least one byte".to_owned(),
            );
        }
        if axes.threads > 1 && axes.size_bytes < u64::from(axes.threads) {
            return refuse(
                Axis::Threads,
                format!("threads would have nothing to write; size={} is too small", Bytes(axes.size_bytes)),
            );
        }
        let own_file = axes.files == Files::PerThread;
        if own_file && axes.descriptor == Descriptor::PerThread {
            return refuse(Axis::Descriptor, "files=per-thread gives each thread its own already".to_owned());
        }
        if own_file && axes.map == MapSharing::PerThread {
            return refuse(Axis::Map, "files=per-thread gives each thread its own already".to_owned());
        }
        if method.cursor == Cursor::Mapping
            && axes.descriptor == Descriptor::PerThread
            && axes.map == MapSharing::Shared
        {
            return refuse(
                Axis::Descriptor,
                "a shared mapping has one descriptor; set map=per-thread".to_owned(),
            );
        }
        if method.cursor == Cursor::FilePosition
            && axes.threads > 1
            && !own_file
            && axes.descriptor == Descriptor::Shared
        {
            return refuse(
                Axis::Threads,
                "threads would share one file position; set files=per-thread or descriptor=per-thread"
                    .to_owned(),
            );
        }
        Ok(())
    }

    /// The method's card.
    #[must_use]
    pub fn method(&self) -> &'static MethodInfo {
        self.method
    }

    /// The values on all axes, defaults included.
    #[must_use]
    pub fn axes(&self) -> &Axes {
        &self.axes
    }

    /// The values on the axes that the method has, by name.
    #[must_use]
    pub fn axis_values(&self) -> BTreeMap<&'static str, String> {
        self.own_axes().map(|axis| (axis.name(), self.axes.get(axis))).collect()
    }

    fn own_axes(&self) -> impl Iterator<Item = Axis> + '_ {
        Axis::ALL.iter().copied().filter(|&axis| self.method.has_axis(axis))
    }

    /// Number of files that the case writes.
    #[must_use]
    pub fn file_count(&self) -> u32 {
        match self.axes.files {
            Files::Shared => 1,
            Files::PerThread => self.axes.threads,
        }
    }

    /// What the caller has when the case is done.
    #[must_use]
    pub fn contract(&self) -> Contract {
        let content = match (self.method.writes_data(), self.axes.data) {
            (true, Data::Random) => Content::Random,
            (true, Data::Zero) => Content::Zero,
            (false, _) if self.axes.call == AllocateCall::Ftruncate => Content::Hole,
            (false, _) => Content::Reserved,
        };
        Contract {
            content,
            bytes: self.axes.size_bytes,
            files: self.file_count(),
            start: if self.axes.prepare.needs_old_content() { Start::Existing } else { Start::New },
            source: self.axes.source,
            durability: match self.axes.sync {
                Sync::None => Durability::Cached,
                Sync::Fsync | Sync::Fdatasync | Sync::Msync => Durability::Durable,
            },
        }
    }

    /// Bytes that one sample writes to the target at most, old content included.
    #[must_use]
    pub fn bytes_written(&self) -> u64 {
        let new = if self.method.writes_data() { self.axes.size_bytes } else { 0 };
        let old = if self.axes.prepare.needs_old_content() { self.axes.size_bytes } else { 0 };
        new.saturating_add(old)
    }

    /// Bytes of memory that the source data takes.
    #[must_use]
    pub fn source_bytes(&self) -> u64 {
        match (self.method.writes_data(), self.axes.source) {
            (false, _) => 0,
            (true, Source::File) => self.axes.size_bytes,
            (true, Source::Chunk) => self.axes.chunk_size_bytes.min(self.axes.size_bytes),
        }
    }
}

impl Axes {
    /// The call that reserves blocks or sets the length, whether it is the method or comes before it.
    #[must_use]
    pub fn allocating_call(&self, method: &MethodInfo) -> Option<AllocateCall> {
        if method.cursor == Cursor::NoData { Some(self.call) } else { self.prepare.call() }
    }
}

fn axis_names(method: &MethodInfo) -> String {
    let names: Vec<_> =
        Axis::ALL.iter().filter(|&&axis| method.has_axis(axis)).map(|axis| axis.name()).collect();
    names.join(", ")
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.method.name)?;
        let defaults = Axes::defaults(self.method.prepares[0]);
        for axis in self.own_axes() {
            let value = self.axes.get(axis);
            if value != defaults.get(axis) {
                write!(f, ",{axis}={value}")?;
            }
        }
        Ok(())
    }
}
