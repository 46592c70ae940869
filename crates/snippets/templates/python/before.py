{%- if case.is_set_len() %}
    os.ftruncate(fd, {{ case.size_python() }})
{%- else if case.reserves() %}
    reserve(fd, {{ case.size_python() }})
{%- endif %}
{%- if case.fills_with_zeros() %}
    fill_with_zeros(fd, {{ case.size_python() }})
{%- endif %}
