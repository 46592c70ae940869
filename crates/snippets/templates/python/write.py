{% extends "python/base.py" %}
{% block helpers %}
{%- if case.options.is_stream %}
{%- include "python/write_stream.py" %}
{%- else %}
{%- if case.threads() > 1 %}
{%- include "python/borders.py" %}
{%- endif %}
{%- if case.threads() > 1 || case.is_direct() %}


def write_part(fd, data{% if case.threads() > 1 && case.is_positional() %}, offset{% endif %}):
    """Writes data from {% if case.is_positional() && case.threads() > 1 %}an offset of the file{% else %}the file's {% if case.is_positional() %}beginning{% else %}position{% endif %}{% endif %} on."""
{%- include "python/loop.py" %}
{%- endif %}


def write_data({% if case.has_own_descriptors() %}path, {% endif %}fd, data):
{%- include "python/before.py" %}
{%- if case.is_direct() %}
    whole = len(data) // BLOCK * BLOCK
{%- endif %}
{%- if case.threads() > 1 %}

    def write_range(start, end):
{%- if case.has_own_descriptors() %}
        # A new descriptor has its own position. The first thread uses the given one.
        own = fd if start == 0 else {% if case.is_direct() %}open_file(path, os.O_WRONLY){% else %}os.open(path, os.O_WRONLY){% endif %}
        try:
{%- if case.is_at_position() %}
            os.lseek(own, start, os.SEEK_SET)
{%- endif %}
            write_part(own, data[start:end]{% if case.is_positional() %}, start{% endif %})
        finally:
            if own != fd:
                os.close(own)
{%- else %}
        write_part(fd, data[start:end], start)
{%- endif %}

    starts = borders({% if case.is_direct() %}whole{% else %}len(data){% endif %})
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(write_range, starts, starts[1:]))  # raises the first error
{%- else if case.is_direct() %}
    write_part(fd, data[:whole])
{%- else %}
{%- include "python/loop.py" %}
{%- endif %}
{%- if case.is_direct() %}
    if whole < len(data):
        # The rest is less than a block: through the page cache.
        fcntl.fcntl(fd, fcntl.F_SETFL, fcntl.fcntl(fd, fcntl.F_GETFL) & ~os.O_DIRECT)
        while whole < len(data):
            whole += some(os.pwrite(fd, data[whole:], whole))
{%- if case.sync_every().is_some() || case.is_rwf_dsync() %}
        os.fdatasync(fd)
{%- endif %}
{%- endif %}
{%- include "python/after.py" %}
{%- endif %}
{% endblock %}
