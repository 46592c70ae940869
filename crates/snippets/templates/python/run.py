{%- if case.options.is_atomic %}
    name = f"{path}.{os.getpid()}.{time.time_ns()}.tmp"  # until it is complete
    old = os.stat(path) if os.path.exists(path) else None
    mode = old.st_mode & 0o777 if old else {{ case.new_mode_python() }}
{%- else if case.chooses_mode() %}
    mode = {{ case.new_mode_python() }}
{%- endif %}
    fd = {% if case.is_direct() %}open_file{% else %}os.open{% endif %}({{ case.written_name() }}, {{ case.access_python() }}{% if case.chooses_mode() %}, mode{% else if !case.is_direct() %}, 0o666{% endif %})
{%- if case.creates_name() %}
    try:
{%- filter indent(4) %}
{%- include "python/fill.py" %}
{%- endfilter %}
{%- if case.options.is_atomic %}
        os.replace(name, path)
{%- else if case.is_durable() %}
        sync_directory(path)
{%- endif %}
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink({{ case.written_name() }})
        raise
{%- if case.options.is_atomic && case.is_durable() %}
    sync_directory(path)
{%- endif %}
{%- else %}
{%- include "python/fill.py" %}
{%- endif %}
