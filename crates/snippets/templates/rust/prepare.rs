{%- if case.reserves() %}
    reserve(file, size)?;
{%- endif %}
{%- if case.fills_with_zeros() %}
    fill_with_zeros(file, size)?;
{%- endif %}
