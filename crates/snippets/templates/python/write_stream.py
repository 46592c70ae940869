{%- include "python/write_all.py" %}


def next_chunk(source, buffer):
    """Fills the buffer with the next chunk of the data, which is shorter only at its end."""
    length = 0
    while length < CHUNK:
        got = source.readinto(buffer[length:])
        if got == 0:
            break
        length += got
    return length


def write_data(fd, source{% if way.expects() %}, expected{% endif %}):
{%- include "python/before.py" %}
{%- if way.is_in_huge_pages() %}
    buffer = huge_pages(CHUNK)
{%- else %}
    # Memory that begins at a page, which is copied faster.
    buffer = memoryview(mmap.mmap(-1, CHUNK, flags=mmap.MAP_PRIVATE))
{%- endif %}
{%- include "python/flags.py" %}
{%- if way.sync_after_several().is_some() %}
    chunks = 0
{%- endif %}
{%- if way.counts_python() %}
    at = 0
{%- endif %}
    length = CHUNK
    while length == CHUNK:
        length = next_chunk(source, buffer)
{%- if way.sync_every().is_some() %}
        if length == 0:
            break
{%- endif %}
{%- if way.is_direct() %}
        write_all(fd, buffer[:length]{% if way.is_positional() %}, at{% endif %})
{%- else %}
        # A call may write less than all; after a signal, Python repeats it itself.
        written = 0
        while written < length:
{%- if way.is_dontcache() %}
            part = buffer[written:length]
            try:
                written += {{ way.part_call_python("part", "at + written") }}
{%- filter indent(4) %}
{%- include "python/uncached.py" %}
{%- endfilter %}
{%- else %}
            written += {{ way.part_call_python("buffer[written:length]", "at + written") }}
{%- endif %}
{%- endif %}
{%- if way.counts_python() %}
        at += length
{%- endif %}
{%- if let Some(every) = way.sync_after_several() %}
        chunks += 1
        if chunks == {{ every }}:
            chunks = 0
            os.{{ way.sync_name() }}(fd)
{%- else if way.sync_every().is_some() %}
        os.{{ way.sync_name() }}(fd)
{%- endif %}
{%- if way.sync_after_several().is_some() %}
    if chunks > 0:
        os.{{ way.sync_name() }}(fd)
{%- endif %}
{%- if way.expects() %}
    if at < expected:
        os.ftruncate(fd, at)
{%- if way.is_durable() && !way.syncs_at_end() %}
        os.fsync(fd)
{%- endif %}
{%- endif %}
{%- include "python/after.py" %}
