{% extends "python/base.py" %}
{% block helpers %}
{%- if case.threads() > 1 %}
{%- include "python/borders.py" %}
{%- endif %}


def copy_into(mapping, original, at, end):
    """Copies the bytes between two offsets{% if case.is(Method::ReadMmap) %}, the original's position being at the first{% endif %}."""
{%- if case.is(Method::MmapMmap) %}
    with (
        mmap.mmap(original.fileno(), end, prot=mmap.PROT_READ) as data,
        memoryview(data) as view,
    ):
{%- if case.is_sequential() %}
        data.madvise(mmap.MADV_WILLNEED)
        data.madvise(mmap.MADV_SEQUENTIAL)
{%- endif %}
{%- else %}
{%- if case.is_sequential() %}
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
{%- endif %}
    with memoryview(mapping) as view:
{%- endif %}
{%- if case.populates_all() %}
{%- if case.is(Method::MmapMmap) %}
        populate(data, MADV_POPULATE_READ, 0, end)
{%- endif %}
        populate(mapping, MADV_POPULATE_WRITE, 0, end)
{%- else if case.populates() %}
        prepared = 0
{%- endif %}
        while at < end:
{%- if case.populates() && !case.populates_all() %}
            if at >= prepared:
                start = at // mmap.PAGESIZE * mmap.PAGESIZE
                prepared = min((at // WINDOW + 1) * WINDOW, end)
{%- if case.is(Method::MmapMmap) %}
                populate(data, MADV_POPULATE_READ, start, prepared - start)
{%- endif %}
                populate(mapping, MADV_POPULATE_WRITE, start, prepared - start)
{%- endif %}
{%- if case.is(Method::MmapMmap) %}
{%- if case.chunk().is_some() %}
            until = min(at + CHUNK, end)
            mapping[at:until] = view[at:until]
            at = until
{%- else %}
            mapping[:end] = view
            at = end
{%- endif %}
{%- else %}
            length = original.readinto(view[{% if case.chunk().is_some() %}at : min(at + CHUNK, end){% else %}at:end{% endif %}])
            if length == 0:
                raise OSError(errno.EIO, "The source has become shorter")
            at += length
{%- endif %}


def copy_data({% if case.threads() > 1 %}{% if case.has_own_descriptors() %}path, {% endif %}fd, source, original{% else %}fd, original{% endif %}, size, mappings):
{%- if case.overwrites() %}
    # A mapping makes no file longer, and the file may have been longer.
    os.ftruncate(fd, size)
{%- endif %}
    if size == 0:  # a mapping cannot be empty
        return
{%- include "python/before.py" %}
{%- if case.has_own_maps() %}

    def copy_part(start, end):
        if start == end:
            return
        with contextlib.ExitStack() as opened:
            own, own_original = fd, original
            if start > 0:
                own_original = opened.enter_context(open(source, "rb", buffering=0))
                own_original.seek(start)
{%- if case.has_own_descriptors() %}
                own = os.open(path, os.O_RDWR)
                opened.callback(os.close, own)
{%- endif %}
            mapping = mappings.enter_context(mmap.mmap(own, end - start, offset=start))
{%- filter indent(8) %}
{%- include "python/advise.py" %}
{%- endfilter %}
            copy_into(mapping, own_original, 0, end - start)
{%- else %}
    mapping = mappings.enter_context(mmap.mmap(fd, size))
{%- include "python/advise.py" %}
{%- if case.threads() > 1 %}

    def copy_part(start, end):
        if start == 0:
            copy_into(mapping, original, 0, end)
            return
        # A new descriptor has its own position.
        with open(source, "rb", buffering=0) as own_original:
            own_original.seek(start)
            copy_into(mapping, own_original, start, end)
{%- else %}
    copy_into(mapping, original, 0, size)
{%- endif %}
{%- endif %}
{%- if case.threads() > 1 %}

    starts = borders(size)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(copy_part, starts, starts[1:]))  # raises the first error
{%- endif %}
{%- include "python/sync_map.py" %}
{% endblock %}
