#[cfg(target_os = "linux")]
mod devices;
#[cfg(target_os = "linux")]
mod direct;
#[cfg(target_os = "linux")]
mod locks;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let mut trials = writebench_testkit::Trials::default();
    devices::add(&mut trials);
    direct::add(&mut trials);
    locks::add(&mut trials);
    trials.run(2)
}

#[cfg(not(target_os = "linux"))]
fn main() {}
