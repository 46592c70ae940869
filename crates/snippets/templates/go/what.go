{% if case.copies() %}input, int(status.Size())
{%- else if case.streams() %}source{% if case.expects() %}, expected{% endif %}
{%- else %}data{% endif %}
