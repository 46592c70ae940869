//! What is asked of an open file, away from the event loop.

use direct_io::BlockDevice;
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Result, Task};
use napi_derive::napi;

use crate::call::Call;
use crate::failure::Failure;
use crate::sys::descriptor::with_file;

/// What is asked, and of which of Node's descriptors.
#[derive(Debug)]
pub struct Request {
    descriptor: i32,
    call: Call,
}

/// What came of it. A refusal is data too: it becomes an `Error` where its conventions are known.
#[napi(object)]
pub struct Answer {
    /// Only from `getBlockDevice`.
    pub device: Option<Device>,
    /// Why not.
    pub failure: Option<Failure>,
}

/// A device's facts by the names that JavaScript has for them. What is unknown is 0, or empty.
#[napi(object)]
pub struct Device {
    /// The unit of its addresses, in bytes.
    pub logical_sector_size: f64,
    /// What it writes at once, in bytes.
    pub physical_sector_size: f64,
    /// All of it, in bytes.
    pub size: f64,
    /// What tells it from others of its model.
    pub serial_number: String,
}

impl Request {
    pub(crate) fn task(descriptor: i32, call: Call) -> AsyncTask<Self> {
        AsyncTask::new(Self { descriptor, call })
    }

    fn answer(&self) -> std::result::Result<Option<BlockDevice>, Failure> {
        let done = with_file(self.descriptor, |file| match self.call {
            Call::BlockDevice => BlockDevice::of(file).map(Some),
            Call::NoCache(off) => direct_io::set_no_cache(file, off).map(|()| None),
            Call::Lock(true) => direct_io::lock(file).map(|()| None),
            Call::Lock(false) => direct_io::unlock(file).map(|()| None),
            Call::LockVolume(true) => direct_io::lock_volume(file).map(|()| None),
            Call::LockVolume(false) => direct_io::unlock_volume(file).map(|()| None),
        });
        done.map_err(|_| Failure::bad_descriptor())?.map_err(|error| Failure::new(self.call, &error))
    }
}

impl Task for Request {
    type Output = Answer;
    type JsValue = Answer;

    fn compute(&mut self) -> Result<Answer> {
        Ok(match self.answer() {
            Ok(device) => Answer { device: device.map(Device::from), failure: None },
            Err(failure) => Answer { device: None, failure: Some(failure) },
        })
    }

    fn resolve(&mut self, _: Env, answer: Answer) -> Result<Answer> {
        Ok(answer)
    }
}

impl From<BlockDevice> for Device {
    fn from(device: BlockDevice) -> Self {
        // Exact up to 8 PiB, as every number of JavaScript.
        let number = |bytes: Option<u64>| bytes.unwrap_or(0) as f64;
        Self {
            logical_sector_size: number(device.logical_sector_bytes),
            physical_sector_size: number(device.physical_sector_bytes),
            size: number(device.capacity_bytes),
            serial_number: device.serial.unwrap_or_default(),
        }
    }
}
