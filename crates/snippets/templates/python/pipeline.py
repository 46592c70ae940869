{% extends "python/base.py" %}
{% block helpers %}
{%- include "python/write_all.py" %}
{%- if case.threads() > 1 %}
{%- include "python/borders.py" %}


def copy_range(fd, original, size):
    """Copies from the positions of both files on."""
{%- include "python/pipeline_loop.py" %}
{%- endif %}


def copy_data({% if case.threads() > 1 %}path, fd, source, original{% else %}fd, original{% endif %}, size):
{%- include "python/before.py" %}
{%- if case.threads() > 1 %}
{%- include "python/copy_parts.py" %}
{%- else %}
{%- include "python/pipeline_loop.py" %}
{%- endif %}
{%- include "python/after.py" %}
{% endblock %}
