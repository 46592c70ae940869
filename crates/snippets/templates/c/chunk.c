{%- if let Some(chunk) = way.chunk() %}

static const size_t CHUNK = (size_t){{ chunk }};
{%- else if !way.is_uring() %}

static const size_t CHUNK = SIZE_MAX; /* all in one call */
{%- endif %}
