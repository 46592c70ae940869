{% extends "python/base.py" %}
{% block helpers %}


def write_data(fd, data, mappings):
    size = len(data)
    if size == 0:  # a mapping cannot be empty
        return
{%- include "python/before.py" %}
{%- if case.overwrites() %}
    if os.fstat(fd).st_size < size:
        os.ftruncate(fd, size)  # a mapping makes no file longer
{%- endif %}
    mapping = mappings.enter_context(mmap.mmap(fd, size))
{%- include "python/advise.py" %}
    at = 0
{%- if case.sync_after_several().is_some() %}
    chunks = 0
{%- endif %}
{%- if case.sync_every().is_some() && case.syncs_map() %}
    synced = 0
{%- endif %}
{%- if case.populates_all() %}
    populate(mapping, MADV_POPULATE_WRITE, 0, size)
{%- else if case.populates() %}
    prepared = 0
{%- endif %}
    while at < size:
{%- if case.populates() && !case.populates_all() %}
        if at == prepared:
            prepared = min(at + WINDOW, size)
            populate(mapping, MADV_POPULATE_WRITE, at, prepared - at)
{%- endif %}
{%- if case.chunk().is_some() %}
        end = min(at + CHUNK, {% if case.populates() && !case.populates_all() %}prepared{% else %}size{% endif %})
{%- else %}
        end = {% if case.populates() && !case.populates_all() %}prepared{% else %}size{% endif %}
{%- endif %}
        mapping[at:end] = data[at:end]
        at = end
{%- if case.sync_every().is_some() %}
{%- if let Some(every) = case.sync_after_several() %}
        chunks += 1
        if chunks == {{ every }} or at == size:
            chunks = 0
{%- endif %}
{%- filter indent(case.sync_indent_python()) %}
{%- if case.syncs_map() %}
        page = synced // mmap.PAGESIZE * mmap.PAGESIZE  # msync(2) begins at a page
        mapping.flush(page, at - page)
        synced = at
{%- else %}
        os.{{ case.sync_name() }}(fd)
{%- endif %}
{%- endfilter %}
{%- endif %}
{%- include "python/sync_map.py" %}
{% endblock %}
