
    at, size = 0, len(data)
{%- include "python/flags.py" %}
{%- if case.sync_after_several().is_some() %}
    chunks = 0
{%- endif %}
{%- if case.is_direct() %}
    aligned = None
{%- endif %}
    # A call may write less. After a signal, Python repeats it.
    while at < size:
{%- if case.is_direct() %}
        chunk = data[{{ case.call_slice_python() }}]
        if aligned is not None:
            aligned[: len(chunk)] = chunk
            chunk = aligned[: len(chunk)]
{%- if case.is_vectored() && case.chunk().is_some() %}
        vector = [chunk[i : i + CHUNK] for i in range(0, len(chunk), CHUNK)]
{%- endif %}
{%- else if case.is_vectored() && case.chunk().is_some() %}
        end = min(at + VECTOR * CHUNK, size)
        vector = [data[i : i + CHUNK] for i in range(at, end, CHUNK)]
{%- endif %}
{%- if case.is_direct() %}
        try:
            at += {{ case.call_python() }}
        except OSError as error:
            if error.errno != errno.EINVAL or aligned is not None:
                raise
            # The data does not begin at a block: copy it to aligned memory.
            aligned = {% if case.is_in_huge_pages() %}huge_pages({% include "python/buffer.py" %}){% else %}memoryview(mmap.mmap(-1, {% include "python/buffer.py" %})){% endif %}
{%- if case.sync_every().is_some() %}
            continue
{%- endif %}
{%- else if case.is_dontcache() %}
        try:
            at += {{ case.call_python() }}
{%- include "python/uncached.py" %}
{%- if case.sync_every().is_some() %}
            continue
{%- endif %}
{%- else %}
        at += {{ case.call_python() }}
{%- endif %}
{%- if let Some(every) = case.sync_after_several() %}
        chunks += {% if case.is_vectored() %}{% if case.chunk().is_some() %}len(vector){% else %}1{% endif %}{% else %}1{% endif %}
        if chunks >= {{ every }} or at == size:
            chunks = 0
            os.{{ case.sync_name() }}(fd)
{%- else if case.sync_every().is_some() %}
        os.{{ case.sync_name() }}(fd)
{%- endif %}
