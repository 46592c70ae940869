{%- if case.is_set_len() %}
  fs.ftruncateSync(fd, {% if case.streams() %}expected{% else %}size{% endif %});
{%- endif %}
{%- if case.fills_with_zeros() %}
  fillWithZeros(fd, {% if case.streams() %}expected{% else %}size{% endif %});
{%- endif %}
