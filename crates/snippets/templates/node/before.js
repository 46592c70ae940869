{%- if case.is_set_len() %}
  fs.ftruncateSync(fd, {{ case.size_node() }});
{%- endif %}
{%- if case.fills_with_zeros() %}
  fillWithZeros(fd, {{ case.size_node() }});
{%- endif %}
