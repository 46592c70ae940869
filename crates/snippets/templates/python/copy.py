{% extends "python/base.py" %}
{% block helpers %}
{%- if way.is(Method::ReadWrite) || way.is(Method::MmapWrite) %}
{%- include "python/write_all.py" %}
{%- endif %}
{%- if way.threads() > 1 %}
{%- include "python/borders.py" %}


def copy_range(fd, original, size{% if way.is(Method::MmapWrite) %}, offset{% endif %}):
    """Copies from the positions of both files on."""
    if size == 0:
        return
{%- include "python/copy_loop.py" %}
{%- endif %}


def copy_data({% if way.threads() > 1 %}path, fd, source, original{% else %}fd, original{% endif %}, size):
{%- if way.is(Method::MmapWrite) && way.threads() == 1 %}
    if size == 0:  # no mapping is empty
        return
{%- endif %}
{%- include "python/before.py" %}
{%- if way.threads() > 1 %}
{%- include "python/copy_parts.py" %}
{%- else %}
{%- include "python/copy_loop.py" %}
{%- endif %}
{%- include "python/after.py" %}
{% endblock %}
