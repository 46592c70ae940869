{%- include "python/write_all.py" %}


def next_chunk(source, buffer):
    """Fills the buffer with the next chunk. Only the last is shorter."""
    length = 0
    while length < CHUNK:
        got = source.readinto(buffer[length:])
        if got == 0:
            break
        length += got
    return length

{%- if case.has_writers() %}


def write_chunk(fd, buffer, at):
    """A call may write less. After a signal, Python repeats it."""
{%- if case.is_direct() %}
    write_all(fd, buffer, at)
{%- else %}
{%- include "python/flags.py" %}
    written = 0
    while written < len(buffer):
{%- if case.is_dontcache() %}
        part = buffer[written:]
        try:
            written += {{ case.part_call_python("part", "at + written") }}
{%- include "python/uncached.py" %}
{%- else %}
        written += {{ case.part_call_python("buffer[written:]", "at + written") }}
{%- endif %}
{%- endif %}
{%- endif %}


def write_data(fd, source{% if case.expects() %}, expected{% endif %}):
{%- include "python/before.py" %}
{%- if case.is_in_huge_pages() %}
    buffer = huge_pages({{ case.buffers_python() }})
{%- else %}
    # Page-aligned memory is copied faster.
    buffer = memoryview(mmap.mmap(-1, {{ case.buffers_python() }}, flags=mmap.MAP_PRIVATE))
{%- endif %}
{%- if !case.has_writers() %}
{%- include "python/flags.py" %}
{%- endif %}
{%- if case.has_writers() %}
    buffers = [buffer[i * CHUNK : (i + 1) * CHUNK] for i in range(DEPTH)]
    writes = collections.deque()
    at = 0
    # Python's lock is released during a write.
    with ThreadPoolExecutor(WRITERS) as pool:
        while True:
            if len(writes) == DEPTH:
                writes.popleft().result()  # raises its error
            buffer = buffers[at // CHUNK % DEPTH]
            length = next_chunk(source, buffer)
            if length < CHUNK:
                break
            writes.append(pool.submit(write_chunk, fd, buffer, at))
            at += length
        for write in writes:
            write.result()
    write_chunk(fd, buffer[:length], at)
{%- if case.expects() %}
    at += length
{%- endif %}
{%- else %}
{%- if case.sync_after_several().is_some() %}
    chunks = 0
{%- endif %}
{%- if case.counts_bytes() %}
    at = 0
{%- endif %}
{%- if case.reserves_ahead() %}
    reserved = 0
{%- endif %}
    length = CHUNK
    while length == CHUNK:
        length = next_chunk(source, buffer)
{%- if case.sync_every().is_some() %}
        if length == 0:
            break
{%- endif %}
{%- if case.reserves_ahead() %}
        reserved = reserve_ahead(fd, reserved, at + length)
{%- endif %}
{%- if case.is_direct() %}
        write_all(fd, buffer[:length]{% if case.is_positional() %}, at{% endif %})
{%- else %}
        # A call may write less. After a signal, Python repeats it.
        written = 0
        while written < length:
{%- if case.is_dontcache() %}
            part = buffer[written:length]
            try:
                written += {{ case.part_call_python("part", "at + written") }}
{%- filter indent(4) %}
{%- include "python/uncached.py" %}
{%- endfilter %}
{%- else %}
            part = buffer[written:length]
            written += {{ case.part_call_python("part", "at + written") }}
{%- endif %}
{%- endif %}
{%- if case.counts_bytes() %}
        at += length
{%- endif %}
{%- if let Some(every) = case.sync_after_several() %}
        chunks += 1
        if chunks == {{ every }}:
            chunks = 0
            os.{{ case.sync_name() }}(fd)
{%- else if case.sync_every().is_some() %}
        os.{{ case.sync_name() }}(fd)
{%- endif %}
{%- if case.sync_after_several().is_some() %}
    if chunks > 0:
        os.{{ case.sync_name() }}(fd)
{%- endif %}
{%- endif %}
{%- if case.expects() %}
    if at < expected:
        os.ftruncate(fd, at)
{%- if case.is_durable() && !case.syncs_at_end() %}
        os.fsync(fd)
{%- endif %}
{%- endif %}
{%- if case.reserves_ahead() %}
    os.ftruncate(fd, at)  # the file ends with the data
{%- if case.is_durable() && !case.syncs_at_end() %}
    os.fdatasync(fd)
{%- endif %}
{%- endif %}
{%- include "python/after.py" %}
