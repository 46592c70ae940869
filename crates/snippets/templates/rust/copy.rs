{% extends "rust/base.rs" %}
{% block fill %}
{%- include "rust/copy_fill.rs" %}
{%- endblock %}
{% block helpers %}

/// Copies the bytes between two offsets. Both files are at their position `from`.
fn copy_range({{ case.mut_rust() }}file: &File, input: &File, from: usize, until: usize) -> io::Result<()> {
{%- if !case.keeps_holes() %}
{%- include "rust/advice.rs" %}
{%- endif %}
{%- if case.is(Method::MmapWrite) %}
    if from == until {
        return Ok(()); // a mapping cannot be empty
    }
    let map = Map::of_source(input, from, until - from)?;
{%- if case.is_sequential() %}
    advise(map.bytes(), Advice::WillNeed);
    advise(map.bytes(), Advice::Sequential);
{%- endif %}
{%- if case.writeback().is_some() %}
    let mut behind = Behind::new(from as u64);
{%- endif %}
{%- if case.writeback().is_some() || case.prepares_windows() %}
    let mut at = 0_usize;
{%- endif %}
{%- if case.prepares_windows() %}
    let mut present = 0;
{%- endif %}
    for chunk in map.bytes().chunks(CHUNK) {
{%- if case.prepares_windows() %}
        if at == present {
            present = at.saturating_add(WINDOW).min(map.length);
            advise(&map.bytes()[at..present], Advice::LinuxPopulateRead);
        }
{%- endif %}
        {% if case.is_direct() %}write_direct(file, chunk){% else %}file.write_all(chunk){% endif %}?;
{%- if case.writeback().is_some() || case.prepares_windows() %}
        at += chunk.len();
{%- endif %}
{%- if case.writeback().is_some() %}
        behind.reach(file, (from + at) as u64)?;
{%- endif %}
    }
    Ok(())
}
{%- else %}
{%- if case.is(Method::ReadWrite) %}
    let mut memory = Vec::new();
    let buffer = aligned(&mut memory, {{ case.at_most_rust("until - from") }}, 4096);
{%- else if case.is(Method::Splice) %}
    let flags = SpliceFlags::MOVE | SpliceFlags::MORE;
    let (pipe, end) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    // It holds a chunk, up to the limit of ordinary users: see pipe(7).
    let _ = rustix::pipe::fcntl_setpipe_size(&end, {{ case.pipe_c() }});
{%- endif %}
{%- if case.writeback().is_some() %}
    let mut behind = Behind::new(from as u64);
{%- endif %}
    let mut at = from;
    while at < until {
        let most = {{ case.at_most_rust("until - at") }};
{%- if case.is(Method::ReadWrite) %}
        let moved = retry_on_intr(|| rustix::io::read(input, &mut buffer[..most]))?;
{%- else if case.is(Method::Splice) %}
        let moved = retry_on_intr(|| rustix::pipe::splice(input, None, &end, None, most, flags))?;
{%- else if case.is(Method::Sendfile) %}
        let moved = retry_on_intr(|| rustix::fs::sendfile(file, input, None, most))?;
{%- else %}
        let moved = retry_on_intr(|| rustix::fs::copy_file_range(input, None, file, None, most))?;
{%- endif %}
        if moved == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into()); // the source has become shorter
        }
{%- if case.is(Method::ReadWrite) %}
        {% if case.is_direct() %}write_direct(file, &buffer[..moved]){% else %}file.write_all(&buffer[..moved]){% endif %}?;
{%- else if case.is(Method::Splice) %}
        let mut left = moved;
        while left > 0 {
            match retry_on_intr(|| rustix::pipe::splice(&pipe, None, file, None, left, flags))? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => left -= written,
            }
        }
{%- endif %}
        at += moved;
{%- if case.writeback().is_some() %}
        behind.reach(file, at as u64)?;
{%- endif %}
    }
    Ok(())
}
{%- endif %}
{%- if case.keeps_holes() %}

/// Copies the data between two offsets. The holes of the source remain holes.
fn copy_data(file: &File, input: &File, from: usize, until: usize) -> io::Result<()> {
{%- include "rust/advice.rs" %}
    let until = until as u64;
    let mut at = from as u64;
    while at < until {
        let start = match rustix::fs::seek(input, rustix::fs::SeekFrom::Data(at)) {
            // A hole up to the end, unless the source has become shorter.
            Err(rustix::io::Errno::NXIO) if input.metadata()?.len() >= until => return Ok(()),
            Err(rustix::io::Errno::NXIO) => return Err(io::ErrorKind::UnexpectedEof.into()),
            start => start?,
        };
        if start >= until {
            return Ok(());
        }
        at = rustix::fs::seek(input, rustix::fs::SeekFrom::Hole(start))?.min(until);
        for both in [input, file] {
            rustix::fs::seek(both, rustix::fs::SeekFrom::Start(start))?;
        }
        copy_range(file, input, start as usize, at as usize)?;
    }
    Ok(())
}
{%- endif %}
{%- endblock %}
