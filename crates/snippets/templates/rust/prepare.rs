{%- if way.reserves() %}
    reserve(file, size)?;
{%- endif %}
{%- if way.fills_with_zeros() %}
    fill_with_zeros(file, size)?;
{%- endif %}
