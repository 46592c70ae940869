{% extends "rust/base.rs" %}
{% block fill %}

fn fill(file: &File, input: &File{% if case.checks_end() %}, size: usize{% endif %}) -> io::Result<()> {
{%- include "rust/prepare.rs" %}
{%- if case.overwrites() %}
    // A clone may end within a block only at the file's end.
    file.set_len(size as u64)?;
{%- endif %}
    let all = libc::file_clone_range {
        src_fd: input.as_raw_fd().into(),
        src_offset: 0,
        src_length: {% if case.checks_end() %}size as u64,{% else %}0, // to its end{% endif %}
        dest_offset: 0,
    };
    // Both share their blocks until one is written.
    // EOPNOTSUPP, EXDEV, EINVAL: not on this filesystem.
    // SAFETY: the kernel reads the range, which lives for the call.
    if unsafe { libc::ioctl(file.as_raw_fd(), libc::FICLONERANGE, &raw const all) } != 0 {
        return Err(io::Error::last_os_error());
    }
{%- include "rust/sync.rs" %}
    Ok(())
}
{%- endblock %}
