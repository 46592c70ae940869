//! The native half of the Node package `@writebench/direct-io`.
//!
//! `lib/` checks arguments and makes an `Error` of a returned failure. Calls that may wait for a device run in
//! libuv's thread pool.

mod call;
mod failure;
pub mod flags;
mod request;
mod sys;

use direct_io::{AlignedBuffer, BufferError};
use napi::bindgen_prelude::AsyncTask;
use napi::{Env, Error, Unknown};
use napi_derive::napi;

use call::Call;
use request::Request;
use sys::external::{self, lend};

/// Makes a zero-filled buffer at an aligned address. Node's garbage collector frees it.
#[napi]
pub fn get_aligned_buffer(
    env: &Env,
    size: u32,
    alignment: u32,
) -> Result<Unknown<'_>, Error<&'static str>> {
    let buffer = AlignedBuffer::new(size as usize, alignment as usize).map_err(|error| {
        let code = match error {
            BufferError::OutOfMemory { .. } => "ERR_MEMORY_ALLOCATION_FAILED",
            _ => "ERR_OUT_OF_RANGE",
        };
        Error::new(code, error.to_string())
    })?;
    lend(env, buffer)
}

/// Frees a buffer at once. Returns false, without an effect, if `is_held` is true or a request may use the buffer.
#[napi]
pub fn release(env: Env, memory: Unknown<'_>, is_held: bool) -> Result<bool, Error<&'static str>> {
    external::release(env, memory, is_held)
        .map_err(|reason| Error::new("ERR_INVALID_ARG_VALUE", reason))
}

#[napi]
pub fn get_block_device(descriptor: i32) -> AsyncTask<Request> {
    Request::task(descriptor, Call::BlockDevice)
}

#[napi(js_name = "setF_NOCACHE")]
pub fn set_no_cache(descriptor: i32, off: bool) -> AsyncTask<Request> {
    Request::task(descriptor, Call::NoCache(off))
}

#[napi]
pub fn set_flock(descriptor: i32, locked: bool) -> AsyncTask<Request> {
    Request::task(descriptor, Call::Lock(locked))
}

#[napi(js_name = "setFSCTL_LOCK_VOLUME")]
pub fn set_lock_volume(descriptor: i32, locked: bool) -> AsyncTask<Request> {
    Request::task(descriptor, Call::LockVolume(locked))
}
