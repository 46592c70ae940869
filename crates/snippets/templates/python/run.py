{%- if way.atomic() %}
    name = f"{path}.{os.getpid()}.tmp"  # until it is whole
{%- endif %}
    fd = {% if way.is_direct() %}open_file({{ way.name_python() }}, {{ way.access_python() }}){% else %}os.open({{ way.name_python() }}, {{ way.access_python() }}, 0o666){% endif %}
{%- if way.creates_name() %}
    try:
{%- filter indent(4) %}
{%- include "python/fill.py" %}
{%- endfilter %}
{%- if way.atomic() %}
        os.replace(name, path)
{%- else if way.is_durable() %}
        sync_directory(path)
{%- endif %}
    except BaseException:
        os.unlink({{ way.name_python() }})
        raise
{%- if way.atomic() && way.is_durable() %}
    sync_directory(path)
{%- endif %}
{%- else %}
{%- include "python/fill.py" %}
{%- endif %}
