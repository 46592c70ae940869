{%- macro of_file(name, access) -%}
    fn {{ name }}(file: &File, from: usize, length: usize) -> io::Result<Self> {
        // SAFETY: the kernel chooses a free place.
        let address = unsafe {
            let (access, flags) = ({{ access }}, MapFlags::SHARED);
            let start = std::ptr::null_mut();
            rustix::mm::mmap(start, length, access, flags, file, from as u64)?
        };
{%- endmacro -%}
{%- if case.maps_target() || case.maps_source() %}

/// A mapping of a file, until it is dropped.
struct Map {
    address: *mut c_void,
    length: usize,
{%- if case.maps_huge() %}
    /// The addresses around it, which are reserved.
    around: (*mut c_void, usize),
{%- endif %}
}

impl Map {
{%- if case.maps_source() %}
    {% call of_file("of_source", "ProtFlags::READ") %}{% endcall %}
{%- if case.maps_huge() %}
        let around = (address, length);
        Ok(Self {
            address,
            length,
            around,
        })
{%- else %}
        Ok(Self { address, length })
{%- endif %}
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: the bytes are mapped, and borrowed with the mapping. The caller lets no other
        // program write to the file.
        unsafe { std::slice::from_raw_parts(self.address.cast(), self.length) }
    }
{%- endif %}
{%- if case.maps_target() %}
{%- if case.maps_source() %}
{% endif %}
{%- if case.maps_huge() %}
    /// A mapping where huge pages fit: as far from a multiple of theirs as the offset is.
    fn of_target(file: &File, from: usize, length: usize) -> io::Result<Self> {
        let before = from % HUGE;
        let size = before + length + HUGE;
        // SAFETY: the kernel chooses a free place.
        let place = unsafe {
            let (access, flags) = (ProtFlags::empty(), MapFlags::PRIVATE);
            rustix::mm::mmap_anonymous(std::ptr::null_mut(), size, access, flags)?
        };
        let address = place.wrapping_byte_add(place.cast::<u8>().align_offset(HUGE) + before);
        let around = (place, size);
        let map = Self {
            address,
            length,
            around,
        };
        // SAFETY: the bytes lie in the reserved ones, which nothing else uses.
        unsafe {
            let access = ProtFlags::READ | ProtFlags::WRITE;
            let flags = MapFlags::SHARED | MapFlags::FIXED;
            rustix::mm::mmap(address, length, access, flags, file, from as u64)?;
        }
{%- if !case.huge_is_collapse() %}
        // A kernel without huge pages refuses.
        // SAFETY: the bytes are mapped, and stay as they are.
        let _ = unsafe { rustix::mm::madvise(address, length, Advice::LinuxHugepage) };
{%- endif %}
        Ok(map)
    }
{%- else %}
    {% call of_file("of_target", "ProtFlags::READ | ProtFlags::WRITE") %}{% endcall %}
        Ok(Self { address, length })
    }
{%- endif %}

    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the bytes are mapped, and borrowed with the mapping. The caller lets no other
        // program write to the file.
        unsafe { std::slice::from_raw_parts_mut(self.address.cast(), self.length) }
    }
{%- if case.syncs_at_end() && case.syncs_map() %}

    /// After an error, the data may be lost although a second call succeeds: write it again.
    fn sync(&self) -> io::Result<()> {
        // SAFETY: the bytes are mapped, and stay as they are.
        unsafe { rustix::mm::msync(self.address, self.length, MsyncFlags::SYNC)? };
        Ok(())
    }
{%- endif %}
{%- endif %}
}

impl Drop for Map {
    fn drop(&mut self) {
{%- if case.maps_huge() %}
        let (address, length) = self.around;
{%- endif %}
        // SAFETY: nothing refers to these bytes any more.
        let _ = unsafe { rustix::mm::munmap({% if case.maps_huge() %}address, length{% else %}self.address, self.length{% endif %}) };
    }
}
{%- if case.maps_source() && (case.is_sequential() || case.populates()) %}

/// Advice that the kernel may refuse, about bytes that begin with a page.
fn advise(bytes: &[u8], advice: Advice) {
    // SAFETY: the bytes are mapped, and the advice changes none.
    let _ = unsafe { rustix::mm::madvise(bytes.as_ptr().cast_mut().cast(), bytes.len(), advice) };
}
{%- endif %}
{%- if case.maps_target() && (case.populates() || case.huge_is_collapse()) %}

/// Makes pages that are about to be written present, by a few calls instead of a fault for each.
fn prepare(window: &mut [u8]) {% if case.populates() %}-> io::Result<()> {% endif %}{
{%- if case.huge_is_collapse() %}
    const MADV_COLLAPSE: libc::c_int = 25; // Linux 6.1
    for huge_page in window.chunks_exact_mut(HUGE) {
        huge_page[0] = 0; // a page must be there before its huge page is made
    }
    let whole = window.len() / HUGE * HUGE;
    if whole > 0 {
        // SAFETY: the bytes are mapped, and stay as they are. The kernel may refuse.
        unsafe { libc::madvise(window.as_mut_ptr().cast(), whole, MADV_COLLAPSE) };
    }
{%- endif %}
{%- if case.populates() %}
    let (address, length) = (window.as_mut_ptr().cast(), window.len());
    // SAFETY: the bytes are mapped, and stay as they are.
    let populate = || unsafe { rustix::mm::madvise(address, length, Advice::LinuxPopulateWrite) };
    match rustix::io::retry_on_intr(populate) {
        Err(rustix::io::Errno::INVAL) => Ok(()), // before Linux 5.14
        result => Ok(result?),                   // FAULT stands for SIGBUS: the disk is full
    }
{%- endif %}
}
{%- endif %}
{%- endif %}
