{%- if let Some(chunk) = way.chunk() %}

static const size_t CHUNK = (size_t){{ chunk }};
{%- endif %}
