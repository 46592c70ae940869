{% if case.copies() %}copyData(fd, original, size)
{%- else if case.options.is_stream %}writeData(fd, next{% if case.expects() %}, expected{% endif %})
{%- else %}writeData(fd, bytes){% endif %}
