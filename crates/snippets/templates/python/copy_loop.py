{%- if case.is_sequential() && !case.maps_source() && !case.keeps_holes() %}
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
{%- endif %}
{%- if case.is(Method::ReadWrite) %}
    # Page-aligned memory is copied faster.
    length = max({% include "python/buffer.py" %}, 1)
    buffer = memoryview(mmap.mmap(-1, length, flags=mmap.MAP_PRIVATE))
    at = 0
    while at < size:
        length = original.readinto(buffer[: size - at])
        if length == 0:
            raise OSError(errno.EIO, "The source has become shorter")
{%- if case.is_direct() %}
        write_all(fd, buffer[:length])
{%- else %}
        written = 0
        while written < length:
            written += some(os.write(fd, buffer[written:length]))
{%- endif %}
        at += length
{%- else if case.is(Method::MmapWrite) %}
    fileno = original.fileno()
    with (
        mmap.mmap(fileno, size, prot=mmap.PROT_READ{% if case.threads() > 1 %}, offset=offset{% endif %}) as mapping,
        memoryview(mapping) as data,
    ):
{%- if case.is_sequential() %}
        mapping.madvise(mmap.MADV_WILLNEED)
        mapping.madvise(mmap.MADV_SEQUENTIAL)
{%- endif %}
{%- if case.populates_all() %}
        populate(mapping, MADV_POPULATE_READ, 0, size)
{%- else if case.populates() %}
        prepared = 0
{%- endif %}
        at = 0
        while at < size:
{%- if case.populates() && !case.populates_all() %}
            if at >= prepared:
                start = at // mmap.PAGESIZE * mmap.PAGESIZE
                prepared = min((at // WINDOW + 1) * WINDOW, size)
                populate(mapping, MADV_POPULATE_READ, start, prepared - start)
{%- endif %}
{%- if case.is_direct() %}
            end = {% if case.chunk().is_some() %}min(at + CHUNK, size){% else %}size{% endif %}
            write_all(fd, data[at:end])
            at = end
{%- else %}
            at += some(os.write(fd, data[{{ case.call_slice_python() }}]))
{%- endif %}
{%- else if case.is(Method::Splice) %}
    flags = os.SPLICE_F_MOVE | os.SPLICE_F_MORE
    fileno = original.fileno()
    receiver, sender = os.pipe()
    try:
        # The limit of ordinary users: see pipe(7).
        with contextlib.suppress(OSError):
            fcntl.fcntl(sender, fcntl.F_SETPIPE_SZ, {{ case.pipe_c() }})
        at = 0
        while at < size:
            left = os.splice(fileno, sender, {{ case.most_python() }}, flags=flags)
            if left == 0:
                raise OSError(errno.EIO, "The source has become shorter")
            at += left
            while left > 0:
                left -= some(os.splice(receiver, fd, left, flags=flags))
    finally:
        os.close(receiver)
        os.close(sender)
{%- else %}
    fileno = original.fileno()
    at = 0
    while at < size:
{%- if case.is(Method::Sendfile) %}
        length = os.sendfile(fd, fileno, None, {{ case.most_python() }})
{%- else %}
        length = os.copy_file_range(fileno, fd, {{ case.most_python() }})
{%- endif %}
        if length == 0:
            raise OSError(errno.EIO, "The source has become shorter")
        at += length
{%- endif %}
