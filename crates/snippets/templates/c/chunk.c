{%- if let Some(chunk) = case.chunk() %}

static const size_t CHUNK = (size_t){{ chunk }};
{%- else if !case.is_uring() %}

static const size_t CHUNK = SIZE_MAX; // all in one call
{%- endif %}
