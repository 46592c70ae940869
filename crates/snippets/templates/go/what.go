{% if case.copies() %}input, int(status.Size())
{%- else if case.options.is_stream %}source{% if case.expects() %}, expected{% endif %}
{%- else %}data{% endif %}
