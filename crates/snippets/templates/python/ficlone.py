{% extends "python/base.py" %}
{% block helpers %}


def copy_data(fd, original, size):
{%- include "python/before.py" %}
    # Both files share their blocks until one is written. EOPNOTSUPP, EXDEV or EINVAL: not on this
    # filesystem.
    fcntl.ioctl(fd, FICLONERANGE, struct.pack("qQQQ", original.fileno(), 0, 0, 0))
{%- include "python/after.py" %}
{% endblock %}
