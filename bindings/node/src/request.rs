use direct_io::BlockDevice;
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::call::Call;
use crate::failure::Failure;
use crate::sys::descriptor::with_file;

/// A call that waits for its turn in libuv's thread pool.
#[derive(Debug)]
pub struct Request {
    descriptor: i32,
    call: Call,
}

/// The end of a request, which has succeeded if there is no failure.
#[napi(object)]
pub struct Outcome {
    /// The device of a successful `getBlockDevice`.
    pub device: Option<Device>,
    pub failure: Option<Failure>,
}

/// A block device. All sizes are in bytes, and an unknown fact is 0 or empty.
#[napi(object)]
pub struct Device {
    pub logical_sector_size: f64,
    pub physical_sector_size: f64,
    pub size: f64,
    pub serial_number: String,
}

impl Request {
    pub(crate) fn task(descriptor: i32, call: Call) -> AsyncTask<Self> {
        AsyncTask::new(Self { descriptor, call })
    }

    fn run(&self) -> std::result::Result<Option<BlockDevice>, Failure> {
        let done = with_file(self.descriptor, |file| match self.call {
            Call::BlockDevice => BlockDevice::from_file(file).map(Some),
            Call::NoCache(off) => direct_io::set_no_cache(file, off).map(|()| None),
            Call::Lock(true) => direct_io::lock(file).map(|()| None),
            Call::Lock(false) => direct_io::unlock(file).map(|()| None),
            Call::LockVolume(true) => direct_io::lock_volume(file).map(|()| None),
            Call::LockVolume(false) => direct_io::unlock_volume(file).map(|()| None),
        });
        done.ok_or_else(Failure::bad_descriptor)?
            .map_err(|error| Failure::new(self.call, &error))
    }
}

impl Task for Request {
    type Output = Outcome;
    type JsValue = Outcome;

    fn compute(&mut self) -> Result<Outcome> {
        Ok(match self.run() {
            Ok(device) => Outcome {
                device: device.map(Device::from),
                failure: None,
            },
            Err(failure) => Outcome {
                device: None,
                failure: Some(failure),
            },
        })
    }

    fn resolve(&mut self, _: Env, outcome: Outcome) -> Result<Outcome> {
        Ok(outcome)
    }
}

impl From<BlockDevice> for Device {
    fn from(device: BlockDevice) -> Self {
        Self {
            logical_sector_size: or_zero(device.logical_sector_bytes),
            physical_sector_size: or_zero(device.physical_sector_bytes),
            size: or_zero(device.capacity_bytes),
            serial_number: device.serial.unwrap_or_default(),
        }
    }
}

/// The number is exact up to 8 PiB, like all JavaScript numbers.
fn or_zero(bytes: Option<u64>) -> f64 {
    bytes.unwrap_or(0) as f64
}
