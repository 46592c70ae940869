use std::ffi::{c_uint, c_void};
use std::ptr;

use napi::{Env, sys};

/// The start of `struct uv_loop_s`: the same on all systems from libuv 1.19 to the end of libuv 1.
#[repr(C)]
struct Loop {
    _data: *mut c_void,
    _active_handles: c_uint,
    _handle_queue: [*mut c_void; 2],
    active_requests: c_uint,
}

/// Whether requests of `fs`, streams, `zlib`, `crypto` or addons are in flight.
pub(crate) fn has_requests(env: Env) -> napi::Result<bool> {
    let mut event_loop = ptr::null_mut();
    // SAFETY: `env` belongs to the current call.
    let status = unsafe { sys::napi_get_uv_event_loop(env.raw(), &raw mut event_loop) };
    napi::check_status!(status)?;
    // SAFETY: The loop lives as long as the environment, and only this thread changes it.
    let event_loop = unsafe { event_loop.cast::<Loop>().as_ref() };
    Ok(event_loop.is_none_or(|event_loop| event_loop.active_requests > 0))
}
