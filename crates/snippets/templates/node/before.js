{%- if case.sets_length() %}
  fs.ftruncateSync(fd, {% if case.options.is_stream %}expected{% else %}size{% endif %});
{%- endif %}
{%- if case.fills_with_zeros() %}
  fillWithZeros(fd, {% if case.options.is_stream %}expected{% else %}size{% endif %});
{%- endif %}
