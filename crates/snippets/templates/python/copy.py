{% extends "python/base.py" %}
{% block helpers %}
{%- if case.is(Method::ReadWrite) || case.is(Method::MmapWrite) %}
{%- include "python/write_all.py" %}
{%- endif %}
{%- if case.threads() > 1 %}
{%- include "python/borders.py" %}
{%- endif %}
{%- if case.threads() > 1 || case.keeps_holes() %}


def copy_range(fd, original, size{% if case.is(Method::MmapWrite) %}, offset{% endif %}):
    """Copies from the positions of both files on."""
    if size == 0:
        return
{%- include "python/copy_loop.py" %}
{%- endif %}
{%- if case.keeps_holes() %}


def copy_extents(fd, original, start, end):
    """Copies the data between two offsets. The holes of the source remain holes."""
{%- if case.is_sequential() %}
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_WILLNEED)
    os.posix_fadvise(original.fileno(), 0, 0, os.POSIX_FADV_SEQUENTIAL)
{%- endif %}
    while start < end:
        try:
            start = original.seek(start, os.SEEK_DATA)
        except OSError as error:
            if error.errno != errno.ENXIO:
                raise
            # A hole up to the end.
            if original.seek(0, os.SEEK_END) < end:
                raise OSError(errno.EIO, "The source has become shorter") from None
            return
        if start >= end:
            return
        until = min(original.seek(start, os.SEEK_HOLE), end)
        original.seek(start)
        os.lseek(fd, start, os.SEEK_SET)
        copy_range(fd, original, until - start)
        start = until
{%- endif %}


def copy_data({% if case.threads() > 1 %}path, fd, source, original{% else %}fd, original{% endif %}, size):
{%- if case.is(Method::MmapWrite) && case.threads() == 1 %}
    if size == 0:  # a mapping cannot be empty
{%- filter indent(4) %}
{%- include "python/after.py" %}
{%- endfilter %}
        return
{%- endif %}
{%- include "python/before.py" %}
{%- if case.threads() > 1 %}
{%- include "python/copy_parts.py" %}
{%- else if case.keeps_holes() %}
    copy_extents(fd, original, 0, size)
{%- else %}
{%- include "python/copy_loop.py" %}
{%- endif %}
{%- include "python/after.py" %}
{% endblock %}
