//! Rust memory as a `Buffer`. A copy would lose the alignment.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use direct_io::AlignedBuffer;
use napi::{Env, Error, JsValue, Unknown, sys};

use super::event_loop;

/// A buffer that JavaScript may use. Node may call `give_back` late, and then the number distinguishes the buffer from
/// a later one at the same address.
struct LentBuffer {
    number: usize,
    _memory: AlignedBuffer,
}

type ByAddress = HashMap<usize, LentBuffer>;

/// The buffers of all threads.
static LENT: LazyLock<Mutex<ByAddress>> = LazyLock::new(Mutex::default);

static NUMBER: AtomicUsize = AtomicUsize::new(0);

fn lent() -> MutexGuard<'static, ByAddress> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees the buffer at an address, but only if it has that number.
fn free(address: usize, number: usize) {
    let mut lent = lent();
    let freed = match lent.get(&address) {
        Some(buffer) if buffer.number == number => lent.remove(&address),
        _ => None,
    };
    // Unmapping takes time, and other threads need the lock.
    drop(lent);
    drop(freed);
}

/// Gives a buffer to JavaScript, whose last reference keeps the memory.
pub(crate) fn lend(
    env: &Env,
    mut buffer: AlignedBuffer,
) -> Result<Unknown<'_>, Error<&'static str>> {
    let length = buffer.len();
    let start = buffer.as_mut_ptr();
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let lent_buffer = LentBuffer {
        number,
        _memory: buffer,
    };
    lent().insert(start.addr(), lent_buffer);
    let hint = ptr::without_provenance_mut(number);
    let mut value = ptr::null_mut();
    // SAFETY: `env` belongs to the current call. The memory is valid until `give_back` after JavaScript's last
    // use, or until `release` detaches it.
    let status = unsafe {
        let start = start.cast::<c_void>();
        sys::napi_create_external_buffer(
            env.raw(),
            length,
            start,
            Some(give_back),
            hint,
            &raw mut value,
        )
    };
    if status == sys::Status::napi_ok {
        // SAFETY: Node has made the value in this environment.
        return Ok(unsafe { Unknown::from_raw_unchecked(env.raw(), value) });
    }
    // JavaScript cannot reach the memory. Node may or may not call `give_back`, as in a worker that ends.
    free(start.addr(), number);
    // V8's sandbox allows no memory outside of it, as in Electron since 21.
    if status == sys::Status::napi_no_external_buffers_allowed {
        let why = "this runtime allows no external buffers, and a copy would not be aligned";
        return Err(Error::new("ERR_FEATURE_UNAVAILABLE_ON_PLATFORM", why));
    }
    let why = format!("napi_create_external_buffer failed with status {status}");
    Err(Error::new("ERR_BUFFER_NOT_CREATED", why))
}

/// Frees the memory and detaches its `ArrayBuffer`. Returns false, without an effect, if `is_held` is true or
/// this thread has requests in flight.
pub(crate) fn release(env: Env, memory: Unknown<'_>, is_held: bool) -> Result<bool, String> {
    let mut start = ptr::null_mut();
    // SAFETY: `env` and the value belong to the current call. Node fails for anything but an `ArrayBuffer`.
    checked(unsafe {
        sys::napi_get_arraybuffer_info(env.raw(), memory.raw(), &raw mut start, ptr::null_mut())
    })?;
    let number = lent()
        .get(&start.addr())
        .map(|buffer| buffer.number)
        .ok_or("not a buffer of getAlignedBuffer, or released already")?;
    if is_held || event_loop::has_requests(env).map_err(|error| error.to_string())? {
        return Ok(false);
    }
    // SAFETY: as above.
    checked(unsafe { sys::napi_detach_arraybuffer(env.raw(), memory.raw()) })?;
    free(start.addr(), number);
    Ok(true)
}

fn checked(status: sys::napi_status) -> Result<(), String> {
    napi::check_status!(status).map_err(|error: Error| error.to_string())
}

/// Node calls this after garbage collection, or at the end of its thread.
unsafe extern "C" fn give_back(_: sys::napi_env, start: *mut c_void, number: *mut c_void) {
    free(start.addr(), number.addr());
}
