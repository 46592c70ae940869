{% extends "python/base.py" %}
{% block helpers %}
{%- if case.is(Method::ReadWrite) || case.is(Method::MmapWrite) %}
{%- include "python/write_all.py" %}
{%- endif %}
{%- if case.threads() > 1 %}
{%- include "python/borders.py" %}


def copy_range(fd, original, size{% if case.is(Method::MmapWrite) %}, offset{% endif %}):
    """Copies from the positions of both files on."""
    if size == 0:
        return
{%- include "python/copy_loop.py" %}
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
{%- else %}
{%- include "python/copy_loop.py" %}
{%- endif %}
{%- include "python/after.py" %}
{% endblock %}
