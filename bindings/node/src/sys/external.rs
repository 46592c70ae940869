//! Rust's memory as a `Buffer` of Node without a copy, because a copy would lose the alignment.

use std::ffi::c_void;
use std::ptr;

use direct_io::AlignedBuffer;
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};

/// A `Buffer` over an [`AlignedBuffer`], which lives until JavaScript no longer refers to it.
#[derive(Debug)]
pub struct External(sys::napi_value);

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

impl External {
    pub(crate) fn new(env: Env, mut buffer: AlignedBuffer) -> Result<Self, NotExternal> {
        let (length, start) = (buffer.len(), buffer.as_mut_ptr());
        // The pointer is only for `give_back`: JavaScript owns the memory from here on.
        let owner = Box::into_raw(Box::new(buffer)).cast::<c_void>();
        let mut value = ptr::null_mut();
        // SAFETY: `env` belongs to the current call. The memory is valid for `length` bytes until `give_back`
        // receives `owner`, once, after JavaScript's last use.
        let status = unsafe {
            let start = start.cast::<c_void>();
            sys::napi_create_external_buffer(env.raw(), length, start, Some(give_back), owner, &raw mut value)
        };
        match status {
            sys::Status::napi_ok => Ok(Self(value)),
            sys::Status::napi_no_external_buffers_allowed => {
                // SAFETY: with this status Node has not taken the pointer, which came from `Box::into_raw`
                // above.
                drop(unsafe { Box::from_raw(owner.cast::<AlignedBuffer>()) });
                Err(NotExternal::Forbidden)
            }
            // It is unknown whether Node has called `give_back`; a leak is better than a double free.
            status => Err(NotExternal::Failed(status)),
        }
    }
}

/// Called by Node when the garbage collector has found the buffer, or when its thread ends.
unsafe extern "C" fn give_back(_: sys::napi_env, _: *mut c_void, owner: *mut c_void) {
    // SAFETY: the pointer came from `Box::into_raw` in `External::new`, and Node calls this once.
    drop(unsafe { Box::from_raw(owner.cast::<AlignedBuffer>()) });
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
