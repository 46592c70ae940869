{% if case.keeps_holes() %}copyData(file, input, from, until)
{%- else if case.copies() %}copyPart(file, input, {% if case.takes_offset_go() %}from, {% endif %}until-from)
{%- else %}writePart(file, data[from:until]{% if case.takes_offset_go() %}, int64(from){% endif %}){% endif %}
