//! Aligned memory, the same on all platforms.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::slice;

/// Zeroed memory of a layout with at least one byte, freed on drop.
pub(crate) struct Allocation {
    start: NonNull<u8>,
    layout: Layout,
}

impl Allocation {
    /// None if the allocator has no memory or the layout is invalid: the alignment must be a power of two,
    /// and the size not zero.
    pub(crate) fn zeroed(size: usize, alignment: usize) -> Option<Self> {
        let layout = Layout::from_size_align(size, alignment).ok().filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        NonNull::new(start).map(|start| Self { start, layout })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has this many bytes, all initialised to zero, and is ours until dropped.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; `&mut self` makes this the only reference.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `start` came from the same allocator with the same layout, and no reference to it is left.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

// SAFETY: the value owns its memory alone, as a `Box<[u8]>` does.
unsafe impl Send for Allocation {}

// SAFETY: through a shared reference the memory can only be read.
unsafe impl Sync for Allocation {}
