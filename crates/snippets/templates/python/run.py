{%- if way.atomic() %}
    name = f"{path}.{os.getpid()}.{time.time_ns()}.tmp"  # until it is whole
    old = os.stat(path) if os.path.exists(path) else None
    mode = old.st_mode & 0o777 if old else 0o666
{%- endif %}
    fd = {% if way.is_direct() %}open_file{% else %}os.open{% endif %}({{ way.name_python() }}, {{ way.access_python() }}{% if way.atomic() %}, mode{% else if !way.is_direct() %}, 0o666{% endif %})
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
        with contextlib.suppress(OSError):
            os.unlink({{ way.name_python() }})
        raise
{%- if way.atomic() && way.is_durable() %}
    sync_directory(path)
{%- endif %}
{%- else %}
{%- include "python/fill.py" %}
{%- endif %}
