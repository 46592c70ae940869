{% if case.is(Method::Pipeline) %}buffers that go round
{%- else if case.copies() %}chunks under way at the same time
{%- else %}writes under way at the same time{% endif %}
