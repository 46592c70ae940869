//! The code of `writebench code`: its calls, its content, and its reaction to faults.

mod built;
mod calls;
mod content;
mod copies;
mod directories;
mod faults;
mod grid;
mod interrupted;
mod lacking;
mod log_file;
mod logs;
mod modules;
mod order;
mod recovery;
mod style;
mod texts;
mod unaligned;

use writebench_testkit::Trials;

pub(crate) use self::built::remove_programs;

pub(crate) fn add(trials: &mut Trials) {
    texts::add(trials);
    calls::add(trials);
    content::add(trials);
    copies::add(trials);
    directories::add(trials);
    faults::add(trials);
    interrupted::add(trials);
    lacking::add(trials);
    logs::add(trials);
    modules::add(trials);
    order::add(trials);
    recovery::add(trials);
    style::add(trials);
    unaligned::add(trials);
}
