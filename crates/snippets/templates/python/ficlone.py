{% extends "python/base.py" %}
{% block helpers %}


def copy_data(fd, original, size):
{%- include "python/before.py" %}
{%- if case.overwrites() %}
    os.ftruncate(fd, size)  # a clone may end within a block only at the file's end
{%- endif %}
    # Both files share their blocks until one is written. EOPNOTSUPP, EXDEV or EINVAL: not on this
    # filesystem.
    fcntl.ioctl(fd, FICLONERANGE, struct.pack("qQQQ", original.fileno(), 0, {% if case.checks_end() %}size{% else %}0{% endif %}, 0))
{%- if case.syncs_at_end() %}
    # Not repeated after an error: the data may be lost although a second call succeeds.
    os.{{ case.sync_name() }}(fd)
{%- endif %}
{% endblock %}
