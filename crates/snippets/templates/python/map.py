{% extends "python/base.py" %}
{% block helpers %}


def write_data(fd, data, mappings):
    size = len(data)
    if size == 0:  # no mapping is empty
        return
{%- include "python/before.py" %}
{%- if way.overwrites() %}
    if os.fstat(fd).st_size < size:
        os.ftruncate(fd, size)  # a mapping makes no file longer
{%- endif %}
    mapping = mappings.enter_context(mmap.mmap(fd, size))
{%- include "python/advise.py" %}
    at = 0
{%- if way.sync_after_several().is_some() %}
    chunks = 0
{%- endif %}
{%- if way.sync_every().is_some() && way.syncs_map() %}
    synced = 0
{%- endif %}
{%- if way.populates_all() %}
    populate(mapping, MADV_POPULATE_WRITE, 0, size)
{%- else if way.populates() %}
    prepared = 0
{%- endif %}
    while at < size:
{%- if way.populates() && !way.populates_all() %}
        if at == prepared:
            prepared = min(at + WINDOW, size)
            populate(mapping, MADV_POPULATE_WRITE, at, prepared - at)
{%- endif %}
{%- if way.chunk().is_some() %}
        end = min(at + CHUNK, {% if way.populates() && !way.populates_all() %}prepared{% else %}size{% endif %})
{%- else %}
        end = {% if way.populates() && !way.populates_all() %}prepared{% else %}size{% endif %}
{%- endif %}
        mapping[at:end] = data[at:end]
        at = end
{%- if way.sync_every().is_some() %}
{%- if let Some(every) = way.sync_after_several() %}
        chunks += 1
        if chunks == {{ every }} or at == size:
            chunks = 0
{%- endif %}
{%- filter indent(way.sync_indent_python()) %}
{%- if way.syncs_map() %}
        page = synced // mmap.PAGESIZE * mmap.PAGESIZE  # msync(2) begins at a page
        mapping.flush(page, at - page)
        synced = at
{%- else %}
        os.{{ way.sync_name() }}(fd)
{%- endif %}
{%- endfilter %}
{%- endif %}
{%- include "python/sync_map.py" %}
{% endblock %}
