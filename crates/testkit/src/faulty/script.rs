//! What goes wrong, and when: plain data.

use std::time::Duration;

use rustix::io::Errno;

/// An operation that the kernel asks the filesystem for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// A new file, opened.
    Create,
    /// A name.
    Lookup,
    /// A file that is there, opened.
    Open,
    /// Data.
    Read,
    /// Data.
    Write,
    /// Blocks.
    Fallocate,
    /// A file's length.
    Truncate,
    /// A file's size, blocks, times.
    Attributes,
    /// fsync or fdatasync.
    Fsync,
    /// A descriptor closes, and hears of it.
    Flush,
    /// The last descriptor has closed, and nobody hears of it.
    Release,
    /// A name goes.
    Unlink,
}

/// When it happens. Once for each file of that script, but for [`When::Each`] and [`When::Every`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum When {
    /// At the operation of that number, from 1: the creation of the file.
    Operation(usize),
    /// At the operation of that kind that has this byte of the file.
    At(Call, u64),
    /// At the first operation of that kind.
    Call(Call),
    /// At every operation of that kind.
    Each(Call),
    /// At one in so many operations of that kind, counted over all files.
    Every(Call, usize),
    /// In the file of that number, from 0, at the operation of that kind and that number, from 1.
    InFile(usize, Call, usize),
}

/// What happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The operation is refused.
    Fail(Errno),
    /// A write takes half of what it is given.
    Short,
    /// A write takes all, says so, and loses it.
    Lose,
    /// The last byte of what is read is another one.
    Flip,
    /// The operation takes that much longer.
    Delay(Duration),
    /// There is never an answer, and no signal ends the wait.
    Hang,
    /// The file loses all its data first.
    Cut,
    /// From then on the file says that it has this size.
    Size(u64),
}

/// A line of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fault {
    /// When.
    pub when: When,
    /// What.
    pub what: What,
}

impl Fault {
    /// `of_kind` is the operation's number among those of its kind, from 1: in its file, and in all files.
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

/// An operation on a file of the script, as it came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation {
    /// Which of the files, in the order of their creation, from 0.
    pub file: usize,
    /// Which of the file's operations, from 1.
    pub number: usize,
    /// What was asked for.
    pub call: Call,
    /// Where in the file, for data.
    pub offset: Option<u64>,
    /// What went wrong.
    pub fault: Option<What>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_due_at_its_number_its_call_or_its_byte() {
        let write = Operation { file: 0, number: 3, call: Call::Write, offset: Some(4096), fault: None };
        let due = |when| Fault { when, what: What::Short }.is_due(&write, 4096, [2, 200]);
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
