//! The code that `writebench code` prints does what its case says: its system calls are the case's, its file has the
//! content, and a fault is continued or reported as a careful programmer would.

mod built;
mod calls;
mod content;
mod faults;
mod grid;
mod lacking;
mod style;
mod texts;
mod unaligned;

use writebench_testkit::Trials;

pub(crate) fn add(trials: &mut Trials) {
    texts::add(trials);
    calls::add(trials);
    content::add(trials);
    faults::add(trials);
    lacking::add(trials);
    style::add(trials);
    unaligned::add(trials);
}
