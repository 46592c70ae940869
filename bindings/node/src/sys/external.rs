//! Rust's memory as a `Buffer` of Node without a copy, because a copy would lose the alignment.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

use direct_io::AlignedBuffer;
use napi::bindgen_prelude::{FromNapiValue, ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};

use super::event_loop;

/// A `Buffer` over an [`AlignedBuffer`], which lives until JavaScript no longer refers to it.
#[derive(Debug)]
pub struct External(sys::napi_value);

/// The `ArrayBuffer` below such a `Buffer`, or any other.
#[derive(Debug)]
pub struct Memory(sys::napi_value);

/// The reason why there is no such buffer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotExternal {
    /// V8's sandbox requires all memory for JavaScript to be inside it: Electron since 21.
    #[error("this runtime allows no external buffers, and a copy would not be aligned")]
    Forbidden,
    /// Node refuses for another reason.
    #[error("napi_create_external_buffer failed with status {0}")]
    Failed(sys::napi_status),
}

/// The memory belongs to no aligned buffer, or no longer.
#[derive(Debug)]
pub(crate) struct NotOurs;

/// The memory that JavaScript has, by its address, of all threads. The number tells it from an earlier buffer
/// at the same address, for which Node may call `give_back` late.
static LENT: LazyLock<Mutex<HashMap<usize, (usize, AlignedBuffer)>>> = LazyLock::new(Mutex::default);

static NUMBER: AtomicUsize = AtomicUsize::new(0);

fn lent() -> MutexGuard<'static, HashMap<usize, (usize, AlignedBuffer)>> {
    LENT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Frees the memory at `address`, if it is that of buffer `number` still.
fn free(address: usize, number: usize) {
    let mut lent = lent();
    let freed = match lent.get(&address) {
        Some(&(found, _)) if found == number => lent.remove(&address),
        _ => None,
    };
    // Other threads need not wait while a large mapping is undone.
    drop(lent);
    drop(freed);
}

impl External {
    pub(crate) fn new(env: Env, mut buffer: AlignedBuffer) -> Result<Self, NotExternal> {
        let (length, start) = (buffer.len(), buffer.as_mut_ptr());
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        lent().insert(start.addr(), (number, buffer));
        let hint = ptr::without_provenance_mut(number);
        let mut value = ptr::null_mut();
        // SAFETY: `env` belongs to the current call. The memory is valid for `length` bytes until `give_back`
        // is called after JavaScript's last use, or `release` has detached it.
        let status = unsafe {
            let start = start.cast::<c_void>();
            sys::napi_create_external_buffer(env.raw(), length, start, Some(give_back), hint, &raw mut value)
        };
        if status == sys::Status::napi_ok {
            return Ok(Self(value));
        }
        // JavaScript has no way to the memory. Node may still call `give_back`, or may not have taken it, as in
        // a worker that is being ended.
        free(start.addr(), number);
        match status {
            sys::Status::napi_no_external_buffers_allowed => Err(NotExternal::Forbidden),
            status => Err(NotExternal::Failed(status)),
        }
    }
}

impl Memory {
    /// Frees the memory, and leaves JavaScript an `ArrayBuffer` without memory. Returns false, and
    /// does nothing, if a request under way in this thread may use the memory, or it `is_held`
    /// otherwise.
    pub(crate) fn release(&self, env: Env, is_held: bool) -> napi::Result<Result<bool, NotOurs>> {
        let mut start = ptr::null_mut();
        // SAFETY: `env` and the value belong to the current call; anything but an `ArrayBuffer` is refused.
        let status =
            unsafe { sys::napi_get_arraybuffer_info(env.raw(), self.0, &raw mut start, ptr::null_mut()) };
        napi::check_status!(status)?;
        let Some(number) = lent().get(&start.addr()).map(|&(number, _)| number) else {
            return Ok(Err(NotOurs));
        };
        if is_held || event_loop::has_requests(env)? {
            return Ok(Ok(false));
        }
        // SAFETY: as above.
        let status = unsafe { sys::napi_detach_arraybuffer(env.raw(), self.0) };
        napi::check_status!(status)?;
        free(start.addr(), number);
        Ok(Ok(true))
    }
}

/// Called by Node when the garbage collector has found the buffer, or when its thread ends.
unsafe extern "C" fn give_back(_: sys::napi_env, start: *mut c_void, number: *mut c_void) {
    free(start.addr(), number.addr());
}

impl TypeName for External {
    fn type_name() -> &'static str {
        "Buffer"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl ToNapiValue for External {
    unsafe fn to_napi_value(_: sys::napi_env, value: Self) -> napi::Result<sys::napi_value> {
        Ok(value.0)
    }
}

impl TypeName for Memory {
    fn type_name() -> &'static str {
        "ArrayBuffer"
    }

    fn value_type() -> ValueType {
        ValueType::Object
    }
}

impl FromNapiValue for Memory {
    unsafe fn from_napi_value(_: sys::napi_env, value: sys::napi_value) -> napi::Result<Self> {
        Ok(Self(value))
    }
}
