//! Memory of ours as a `Buffer` of Node's, without a copy: a copy would lie wherever Node puts it.

use std::ffi::c_void;
use std::ptr;

use direct_io::AlignedBuffer;
use napi::bindgen_prelude::{ToNapiValue, TypeName};
use napi::{Env, ValueType, sys};

/// A `Buffer` that is an [`AlignedBuffer`], which lives until nothing in JavaScript refers to it.
#[derive(Debug)]
pub struct External(sys::napi_value);

/// Why there is none.
#[derive(Debug, thiserror::Error)]
pub(crate) enum NotExternal {
    /// V8's sandbox keeps all memory that JavaScript sees in a place of its own: Electron since 21.
    #[error("this runtime allows no external buffers, and a copy would not be aligned")]
    Forbidden,
    /// Node refuses for another reason.
    #[error("napi_create_external_buffer failed with status {0}")]
    Failed(sys::napi_status),
}

impl External {
    pub(crate) fn new(env: Env, mut buffer: AlignedBuffer) -> Result<Self, NotExternal> {
        let (length, start) = (buffer.len(), buffer.as_mut_ptr());
        // Only to be given back: the memory is JavaScript's from here on.
        let owner = Box::into_raw(Box::new(buffer)).cast::<c_void>();
        let mut value = ptr::null_mut();
        // SAFETY: `env` is that of the call we are in. The memory is valid for `length` bytes until `give_back`
        // has `owner`, which is called once, after JavaScript's last use of it.
        let status = unsafe {
            let start = start.cast::<c_void>();
            sys::napi_create_external_buffer(env.raw(), length, start, Some(give_back), owner, &raw mut value)
        };
        match status {
            sys::Status::napi_ok => Ok(Self(value)),
            sys::Status::napi_no_external_buffers_allowed => {
                // SAFETY: with this status Node has not taken it, and it came from `Box::into_raw` above.
                drop(unsafe { Box::from_raw(owner.cast::<AlignedBuffer>()) });
                Err(NotExternal::Forbidden)
            }
            // Whether Node has called `give_back` is not said; giving it back twice would be worse than never.
            status => Err(NotExternal::Failed(status)),
        }
    }
}

/// Called by Node when the garbage collector has found the buffer, or when its thread ends.
unsafe extern "C" fn give_back(_: sys::napi_env, _: *mut c_void, owner: *mut c_void) {
    // SAFETY: it came from `Box::into_raw` in `External::new`, and Node calls this once.
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
