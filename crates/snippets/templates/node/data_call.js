{% if case.copies() %}copyData(fd, original, size)
{%- else if case.streams() %}writeData(fd, next{% if case.expects() %}, expected{% endif %})
{%- else %}writeData(fd, data){% endif %}
