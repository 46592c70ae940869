{%- if way.is_set_len() %}
    os.ftruncate(fd, {{ way.size_python() }})
{%- else if way.reserves() %}
    reserve(fd, {{ way.size_python() }})
{%- endif %}
{%- if way.fills_with_zeros() %}
    fill_with_zeros(fd, {{ way.size_python() }})
{%- endif %}
