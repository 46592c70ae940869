//! Whether standard output or standard error was closed (`>&-`) when the program began.
//!
//! Before `main`, Rust's runtime opens /dev/null in place of a closed one, and results would vanish there without an
//! error. So this looks before the runtime does.
#![expect(
    unsafe_code,
    reason = "the linker is told to call a function before main"
)]

use std::io;
use std::os::fd::{BorrowedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

pub(crate) const STDOUT: RawFd = 1;
pub(crate) const STDERR: RawFd = 2;

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);
static STDERR_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

#[used]
// SAFETY: the section holds pointers to functions of this type, which the C library calls once each before `main`.
#[unsafe(link_section = ".init_array")]
static BEFORE_MAIN: extern "C" fn() = look;

extern "C" fn look() {
    for (number, was_closed) in [(STDOUT, &STDOUT_WAS_CLOSED), (STDERR, &STDERR_WAS_CLOSED)] {
        // SAFETY: the call only asks whether the number is open, and no other thread exists yet.
        let asked = unsafe { BorrowedFd::borrow_raw(number) };
        was_closed.store(
            rustix::io::fcntl_getfd(asked) == Err(Errno::BADF),
            Ordering::Relaxed,
        );
    }
}

/// Fails if the output with this number was closed. Called before each write.
pub(crate) fn check(number: RawFd) -> io::Result<()> {
    let was_closed = if number == STDERR {
        &STDERR_WAS_CLOSED
    } else {
        &STDOUT_WAS_CLOSED
    };
    if was_closed.load(Ordering::Relaxed) {
        Err(Errno::BADF.into())
    } else {
        Ok(())
    }
}
