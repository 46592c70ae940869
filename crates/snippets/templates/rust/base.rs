//! {{ case.name() }}
//!
{%- for line in case.about() %}
//! {{ line }}
{%- endfor %}
//!
{%- for line in case.errors("") %}
//! {{ line }}
{%- endfor %}
{%- if case.maps_target() %}
//! If the file becomes shorter or its disk full, SIGBUS ends the program
{%- if !case.reserves_blocks() %}:
//! reserve its blocks with fallocate(2) where that matters{% endif %}.
{%- endif %}
{%- if case.maps_source() %}
//! If the source becomes shorter, {% if case.maps_target() %}so does that{% else %}the error is EFAULT{% endif %}.
{%- endif %}
//! Edition 2024, and in Cargo.toml:
//! libc = "0.2"RUSTIX

IMPORTS

{% if let Some(chunk) = case.chunk_rust() -%}
const CHUNK: usize = {{ chunk }};
{%- endif %}
{%- if case.threads() > 1 %}
const THREADS: usize = {{ case.threads() }};
{%- endif %}
{%- if case.has_writers() %}
const WRITERS: usize = {{ case.writers() }};
const DEPTH: usize = 2 * WRITERS; // buffers in turn
{%- endif %}
{%- if case.is(Method::Pipeline) %}
const DEPTH: usize = {{ case.axes().depth }}; // buffers in turn
{%- endif %}
{%- if case.is_vectored() %}
const VECTOR: usize = {{ case.axes().vector }}; // chunks per call
{%- endif %}
{%- if case.prepares_windows() %}
const WINDOW: usize = {% if case.prepares_all() %}usize::MAX{% else %}{{ case.window() }}{% endif %}; // bytes prepared at a time
{%- endif %}
{%- if let Some(window) = case.writeback() %}
/// Write-back is this many bytes behind the writer.
const BEHIND: u64 = {{ window }};
{%- endif %}
{%- if case.is_direct() %}
/// With O_DIRECT, addresses, offsets and lengths are multiples of this.
const BLOCK: usize = {{ case.block() }};
{%- endif %}
{%- if case.maps_huge() %}
const HUGE: usize = 2 << 20;
{%- endif %}
{%- block declarations %}{% endblock %}

{% if case.copies() -%}
pub fn copy_file(source: &Path, path: &Path) -> io::Result<()> {
    let input = File::open(source)?;
{%- if !case.is(Method::Ficlone) || case.reserves() || case.overwrites() %}
    let size = usize::try_from(input.metadata()?.len()).map_err(io::Error::other)?;
{%- endif %}
{%- else if case.options.is_stream -%}
{%- if case.expects() -%}
/// Space for `expected` bytes is prepared. The file ends with the data.
{% endif -%}
pub fn write_stream(path: &Path, source: &mut impl Read{% if case.expects() %}, expected: u64{% endif %}) -> io::Result<()> {
{%- else -%}
pub fn write_file(path: &Path, data: &[u8]) -> io::Result<()> {
{%- endif %}
{%- if case.options.is_atomic %}
    // Under another name until it is complete.
    let mut name = path.as_os_str().to_owned();
    let now = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    name.push(format!(".{}.{}.tmp", std::process::id(), now.as_nanos()));
    let name = Path::new(&name);
    let old = fs::metadata(path).ok();
    let mode = old.as_ref().map_or(0o666, |old| old.mode() & 0o777);
{%- endif %}
    let file = {{ case.open_rust(true) }}?;
{%- if case.omits_checksums() %}
    omit_checksums(&file);
{%- endif %}
{%- if !case.creates_name() %}
    fill(&file, {{ case.arguments_rust() }}).and_then(|()| close(file))
{%- else %}
{%- if case.options.is_atomic %}
    keep_mode(&file, old.as_ref())
        .and_then(|()| fill(&file, {{ case.arguments_rust() }}))
{%- else %}
    fill(&file, {{ case.arguments_rust() }})
{%- endif %}
        .and_then(|()| close(file))
{%- if case.options.is_atomic %}
        .and_then(|()| fs::rename(name, path))
{%- endif %}
{%- if case.is_durable() %}
        .and_then(|()| sync_directory(path))
{%- endif %}
        .inspect_err(|_| {
            let _ = fs::remove_file({{ case.written_name() }});
        })
{%- endif %}
}
{%- if case.options.is_atomic %}

/// Copies the mode of the replaced file, and its owner and group if permitted.
fn keep_mode(file: &File, old: Option<&fs::Metadata>) -> io::Result<()> {
    let Some(old) = old else { return Ok(()) };
    let _ = std::os::unix::fs::fchown(file, None, Some(old.gid()))
        .and_then(|()| std::os::unix::fs::fchown(file, Some(old.uid()), None));
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}
{%- endif %}
{%- if case.omits_checksums() %}

/// For an empty file: btrfs then makes neither checksums nor copies on write. Others refuse.
fn omit_checksums(file: &File) {
    if let Ok(flags) = rustix::fs::ioctl_getflags(file) {
        let _ = rustix::fs::ioctl_setflags(file, flags | rustix::fs::IFlags::NOCOW);
    }
}
{%- endif %}
{%- if case.is_direct() %}

/// Opens a file past the page cache, if its filesystem has direct I/O.
fn open_direct(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match options.custom_flags({{ case.open_flags_rust(true) }}).open(path) {
        Err(error) if error.raw_os_error() == Some(libc::EINVAL) => {
{%- if case.creates_name() %}
            // Such a filesystem refuses, but has made the file.
            options
                .create_new(false)
                .create(true)
                .custom_flags({{ case.open_flags_rust(false) }})
                .open(path)
{%- else %}
            options.custom_flags({{ case.open_flags_rust(false) }}).open(path)
{%- endif %}
        }
        result => result,
    }
}

/// The end is less than a block, and takes the page cache.
fn end_direct(file: &File) -> io::Result<()> {
    let flags = rustix::fs::fcntl_getfl(file)? - rustix::fs::OFlags::DIRECT;
    Ok(rustix::fs::fcntl_setfl(file, flags)?)
}
{%- endif %}
{%- block fill %}{% endblock %}
{%- if case.reserves() %}

/// Gives the file its {% if case.axes().prepare == Prepare::SetLen %}length{% else %}blocks: a full disk fails before any write{% endif %}.
fn reserve(file: &File, size: {% if case.options.is_stream %}u64{% else %}usize{% endif %}) -> io::Result<()> {
    if size == 0 {
        return Ok(()); // the call would refuse it
    }
{%- if case.axes().prepare == Prepare::SetLen %}
    file.set_len({{ case.size_rust() }})
{%- else if case.axes().prepare == Prepare::PosixFallocate %}
    loop {
        // SAFETY: the call takes numbers only.
        match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size as libc::off_t) } {
            0 => return Ok(()),
            libc::EINTR => {}
            // This filesystem cannot reserve blocks.
{%- if case.is_direct() %}
            // EINVAL: glibc's substitute writes single bytes, which O_DIRECT refuses.
            libc::EOPNOTSUPP | libc::EINVAL => return Ok(()),
{%- else if case.maps_target() %}
            libc::EOPNOTSUPP => return file.set_len({{ case.size_rust() }}),
{%- else %}
            libc::EOPNOTSUPP => return Ok(()),
{%- endif %}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
    }
{%- else %}
    let mode = rustix::fs::FallocateFlags::{% if case.axes().prepare == Prepare::FallocateKeepSize %}KEEP_SIZE{% else if case.axes().prepare == Prepare::FallocateZeroRange %}ZERO_RANGE{% else %}empty(){% endif %};
    match rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, mode, 0, {{ case.size_rust() }})) {
        // This filesystem cannot reserve blocks.
        Err(rustix::io::Errno::OPNOTSUPP) => {% if case.maps_target() %}file.set_len(size as u64){% else %}Ok(()){% endif %},
        result => Ok(result?),
    }
{%- endif %}
}
{%- endif %}
{%- if case.reserves_ahead() %}

/// Reserves blocks before a write up to `end`, many at a time: the file's length is not known yet.
fn reserve_ahead(file: &File, reserved: &mut u64, end: u64) -> io::Result<()> {
    const AHEAD: u64 = 64 << 20;
    if end <= *reserved {
        return Ok(());
    }
    let more = AHEAD.max(end - *reserved);
    let mode = rustix::fs::FallocateFlags::empty();
    match rustix::io::retry_on_intr(|| rustix::fs::fallocate(file, mode, *reserved, more)) {
        // This filesystem cannot reserve blocks.
        Err(rustix::io::Errno::OPNOTSUPP) => *reserved = u64::MAX,
        result => *reserved += result.map(|()| more)?,
    }
    Ok(())
}
{%- endif %}
{%- if case.fills_with_zeros() %}

/// Writes zeros: overwriting written blocks changes no metadata.
fn fill_with_zeros(file: &File, size: {% if case.options.is_stream %}u64{% else %}usize{% endif %}) -> io::Result<()> {
    #[repr(align(4096))]
    struct Aligned([u8; 64 << 10]);
    static ZEROS: Aligned = Aligned([0; 64 << 10]);
    for at in (0..size).step_by(ZEROS.0.len()) {
{%- if case.options.is_stream %}
        let length = (size - at).min(ZEROS.0.len() as u64) as usize;
        file.write_all_at(&ZEROS.0[..length], at)?;
{%- else %}
        file.write_all_at(&ZEROS.0[..ZEROS.0.len().min(size - at)], at as u64)?;
{%- endif %}
    }
    Ok(rustix::fs::fsync(file)?)
}
{%- endif %}
{%- block helpers %}{% endblock %}
{%- include "rust/stores.rs" %}
{%- include "rust/map_struct.rs" %}
{%- include "rust/write_direct.rs" %}
{%- include "rust/behind.rs" %}
{%- include "rust/parts.rs" %}
{%- include "rust/aligned.rs" %}
{%- include "rust/close.rs" %}
{%- if case.creates_name() && case.is_durable() %}

/// A sync of the directory makes the file's name durable.
fn sync_directory(path: &Path) -> io::Result<()> {
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let directory = File::open(directory.unwrap_or(Path::new(".")))?;
    Ok(rustix::fs::fsync(directory)?)
}
{%- endif %}
{%- include "rust/main.rs" %}
