use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;
use std::slice;

/// Zeroed memory at an aligned address, which a drop frees.
pub(crate) struct Allocation {
    start: NonNull<u8>,
    pub(crate) layout: Layout,
}

impl Allocation {
    /// Allocates memory. The result is `None` if there is not enough, or if the layout is invalid: its size is zero, or
    /// its alignment is not a power of two.
    pub(crate) fn zeroed(size: usize, alignment: usize) -> Option<Self> {
        let layout = Layout::from_size_align(size, alignment)
            .ok()
            .filter(|layout| layout.size() > 0)?;
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        NonNull::new(start).map(|start| Self { start, layout })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the allocation has this many initialised bytes, and belongs to `self` until dropped.
        unsafe { slice::from_raw_parts(self.start.as_ptr(), self.layout.size()) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`, and `&mut self` makes this the only reference.
        unsafe { slice::from_raw_parts_mut(self.start.as_ptr(), self.layout.size()) }
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: `start` is from this allocator with this layout, and no reference to it is left.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

// SAFETY: like a `Box<[u8]>`, the value owns its memory alone.
unsafe impl Send for Allocation {}

// SAFETY: through a shared reference the memory can only be read.
unsafe impl Sync for Allocation {}
