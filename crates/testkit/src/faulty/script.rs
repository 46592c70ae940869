//! The script of the faults.

use std::time::Duration;

use rustix::io::Errno;

/// A kind of request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    Create,
    Lookup,
    /// An existing file is opened.
    Open,
    Read,
    Write,
    Fallocate,
    Truncate,
    /// Size, blocks or times are read or set.
    Attributes,
    /// The program calls fsync or fdatasync.
    Fsync,
    /// A descriptor is closed, which can return an error.
    Flush,
    /// The last descriptor is closed, which cannot return an error.
    Release,
    Unlink,
}

/// The operation at which a fault is due: one per watched file, except for [`When::Each`], [`When::Every`] and
/// [`When::InFile`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// Number 1 is the creation of the file.
    Operation(usize),
    /// The operation with this byte of the file.
    At(Call, u64),
    /// The first operation of that kind.
    Call(Call),
    /// Each operation of that kind.
    Each(Call),
    /// Every n-th operation of that kind, counted over all files.
    Every(Call, usize),
    /// The operation of that kind with the second number, from 1, in the file with the first number, from 0.
    InFile(usize, Call, usize),
}

/// What happens instead of the operation, or besides it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// It returns this error.
    Fail(Errno),
    /// A write takes half of its data.
    Short,
    /// A write takes nothing, and reports success.
    Nothing,
    /// A write reports success and loses its data.
    Lose,
    /// The last byte of a read is changed.
    Flip,
    /// The reply waits for so long.
    Delay(Duration),
    /// The operation hangs, and not even a signal ends the wait.
    Hang,
    /// The file first loses all its data.
    Cut,
    /// The file reports this size from then on.
    Size(u64),
}

/// A line of the script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    pub when: When,
    pub what: What,
}

impl Fault {
    /// `of_kind` counts operations of the kind from 1, in the file and in all files.
    pub(super) fn is_due(&self, operation: &Operation, length: u64, of_kind: [usize; 2]) -> bool {
        match self.when {
            When::Every(call, each) => operation.call == call && of_kind[1].is_multiple_of(each),
            When::InFile(file, call, number) => {
                (operation.file, operation.call, of_kind[0]) == (file, call, number)
            }
            When::Operation(number) => operation.number == number,
            When::Call(call) | When::Each(call) => operation.call == call,
            When::At(call, at) => {
                let begin = operation.offset.unwrap_or(u64::MAX);
                operation.call == call && (begin..begin.saturating_add(length)).contains(&at)
            }
        }
    }
}

/// An operation on a watched file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// The number of the file in order of creation, from 0.
    pub file: usize,
    /// The number of the operation in its file, from 1.
    pub number: usize,
    pub call: Call,
    pub offset: Option<u64>,
    /// The fault that the operation met.
    pub fault: Option<What>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_due_at_its_number_its_call_or_its_byte() {
        let write = Operation {
            file: 0,
            number: 3,
            call: Call::Write,
            offset: Some(4096),
            fault: None,
        };
        let due = |when| {
            Fault {
                when,
                what: What::Short,
            }
            .is_due(&write, 4096, [2, 200])
        };
        assert!(due(When::Operation(3)) && !due(When::Operation(2)));
        assert!(due(When::Call(Call::Write)) && !due(When::Call(Call::Fsync)));
        let at = |byte| When::At(Call::Write, byte);
        assert!(due(at(4096)) && due(at(8191)) && !due(When::At(Call::Read, 4096)));
        assert!(!due(at(4095)) && !due(at(8192)));
        assert!(due(When::Every(Call::Write, 100)) && !due(When::Every(Call::Write, 150)));
        assert!(!due(When::Every(Call::Read, 100)));
        let in_file = |file, number| When::InFile(file, Call::Write, number);
        assert!(due(in_file(0, 2)) && !due(in_file(1, 2)) && !due(in_file(0, 1)));
    }
}
