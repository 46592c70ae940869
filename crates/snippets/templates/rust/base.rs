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
const DEPTH: usize = WRITERS + 1; // buffers: the producer fills one
{%- endif %}
{%- if case.is(Method::Pipeline) %}
const DEPTH: usize = {{ case.choices().depth }}; // buffers in turn
{%- endif %}
{%- if case.is_vectored() %}
const VECTOR: usize = {{ case.choices().vector }}; // chunks per call
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
    let status = input.metadata()?;
    if !status.is_file() {
        return Err(io::Error::other("the source is no regular file"));
    }
{%- if case.meets_source() %}
    if is_source(path, &status) {
        return Err(io::Error::other("the source is the same file"));
    }
{%- endif %}
{%- if case.checks_end() %}
    let size = usize::try_from(status.len()).map_err(io::Error::other)?;
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
{%- if case.copies() %}
    let mode = old.as_ref().unwrap_or(&status).mode() & 0o777;
{%- else %}
    let mode = old.as_ref().map_or(0o666, |old| old.mode() & 0o777);
{%- endif %}
{%- else if case.chooses_mode() %}
    let mode = status.mode() & 0o777;
{%- endif %}
{%- if case.reopens_copy() %}
    let mode = mode | 0o600; // it is opened again
{%- endif %}
    let file = {{ case.open_rust(true) }}?;
{%- if case.omits_checksums() %}
    omit_checksums(&file);
{%- endif %}
{%- if !case.creates_name() && case.checks_end() %}
    fill(&file, {{ case.arguments_rust() }})
        .and_then(|()| ends_at(&input, size))
        .and_then(|()| close(file))
{%- else if !case.creates_name() %}
    fill(&file, {{ case.arguments_rust() }}).and_then(|()| close(file))
{%- else %}
{%- if case.options.is_atomic %}
    keep_mode(&file, old.as_ref())
        .and_then(|()| fill(&file, {{ case.arguments_rust() }}))
{%- else %}
    fill(&file, {{ case.arguments_rust() }})
{%- endif %}
{%- if case.checks_end() %}
        .and_then(|()| ends_at(&input, size))
{%- endif %}
{%- if case.reopens_copy() %}
        .and_then(|()| narrow_mode(&file, {% if case.options.is_atomic %}old.as_ref().unwrap_or(&status){% else %}&status{% endif %}))
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
    if !old.is_file() {
        let what = "the target is not a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, what));
    }
    let _ = std::os::unix::fs::fchown(file, None, Some(old.gid()))
        .and_then(|()| std::os::unix::fs::fchown(file, Some(old.uid()), None));
    file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o777))
}
{%- endif %}
{%- include "rust/omit_checksums.rs" %}
{%- include "rust/source.rs" %}
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
{%- include "rust/reserve.rs" %}
{%- block helpers %}{% endblock %}
{%- include "rust/stores.rs" %}
{%- include "rust/map_struct.rs" %}
{%- include "rust/write_direct.rs" %}
{%- include "rust/behind.rs" %}
{%- include "rust/parts.rs" %}
{%- include "rust/aligned.rs" %}
{%- include "rust/close.rs" %}
{%- include "rust/sync_directory.rs" %}
{%- include "rust/main.rs" %}
