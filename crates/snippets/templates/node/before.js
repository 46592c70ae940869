{%- if way.is_set_len() %}
  fs.ftruncateSync(fd, {{ way.size_node() }});
{%- endif %}
{%- if way.fills_with_zeros() %}
  fillWithZeros(fd, {{ way.size_node() }});
{%- endif %}
