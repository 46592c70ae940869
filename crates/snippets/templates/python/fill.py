{%- if case.maps_target() %}
    # A mapping has a duplicate of fd, and ignores the errors of closing it: fd is closed before.
    with contextlib.ExitStack() as mappings:
{%- filter indent(4) %}
{%- include "python/fill_and_close.py" %}
{%- endfilter %}
{%- else %}
{%- include "python/fill_and_close.py" %}
{%- endif %}
