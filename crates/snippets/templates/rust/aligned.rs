{%- if case.has_buffer_rust() %}

/// Memory at a multiple of `alignment`.
fn aligned(memory: &mut Vec<u8>, size: usize, alignment: usize) -> &mut [u8] {
{%- if case.makes_huge_pages() %}
    let whole = size.next_multiple_of(alignment);
    *memory = vec![0; whole + alignment];
    let start = memory.as_ptr().align_offset(alignment);
    let pages = memory[start..start + whole].as_mut_ptr();
    // The kernel may have no huge pages.
    // SAFETY: this advice changes no content.
    let _ = unsafe { rustix::mm::madvise(pages.cast(), whole, rustix::mm::Advice::LinuxHugepage) };
{%- else %}
    *memory = vec![0; size + alignment];
    let start = memory.as_ptr().align_offset(alignment);
{%- endif %}
    &mut memory[start..start + size]
}
{%- endif %}
