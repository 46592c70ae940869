{%- if way.is_set_len() %}
  fs.ftruncateSync(fd, size);
{%- endif %}
{%- if way.fills_with_zeros() %}
  fillWithZeros(fd, size);
{%- endif %}
