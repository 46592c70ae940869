
    at, size = 0, len(data)
{%- include "python/flags.py" %}
{%- if way.sync_after_several().is_some() %}
    chunks = 0
{%- endif %}
{%- if way.is_direct() %}
    aligned = None
{%- endif %}
    # A call may write less than all; after a signal, Python repeats it itself.
    while at < size:
{%- if way.is_direct() %}
        chunk = data[{{ way.call_slice_python() }}]
        if aligned is not None:
            aligned[: len(chunk)] = chunk
            chunk = aligned[: len(chunk)]
{%- if way.is_vectored() && way.chunk().is_some() %}
        vector = [chunk[i : i + CHUNK] for i in range(0, len(chunk), CHUNK)]
{%- endif %}
{%- else if way.is_vectored() && way.chunk().is_some() %}
        end = min(at + VECTOR * CHUNK, size)
        vector = [data[i : i + CHUNK] for i in range(at, end, CHUNK)]
{%- endif %}
{%- if way.is_direct() %}
        try:
            at += {{ way.call_python() }}
        except OSError as error:
            if error.errno != errno.EINVAL or aligned is not None:
                raise
            # The data does not begin at a block: copy it to memory that does.
            aligned = {% if way.is_in_huge_pages() %}huge_pages({{ way.buffer_python() }}){% else %}memoryview(mmap.mmap(-1, {{ way.buffer_python() }})){% endif %}
{%- if way.sync_every().is_some() %}
            continue
{%- endif %}
{%- else if way.is_dontcache() %}
        try:
            at += {{ way.call_python() }}
{%- include "python/uncached.py" %}
{%- if way.sync_every().is_some() %}
            continue
{%- endif %}
{%- else %}
        at += {{ way.call_python() }}
{%- endif %}
{%- if let Some(every) = way.sync_after_several() %}
        chunks += {% if way.is_vectored() %}{% if way.chunk().is_some() %}len(vector){% else %}1{% endif %}{% else %}1{% endif %}
        if chunks >= {{ every }} or at == size:
            chunks = 0
            os.{{ way.sync_name() }}(fd)
{%- else if way.sync_every().is_some() %}
        os.{{ way.sync_name() }}(fd)
{%- endif %}
