{% if case.is(Method::Pipeline) %}buffers in turn
{%- else if case.copies() %}chunks in flight
{%- else %}writes in flight{% endif %}
