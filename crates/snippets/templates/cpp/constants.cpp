
{%- if let Some(chunk) = case.chunk() %}

constexpr std::size_t chunk_size = {{ case.size_cpp(chunk) }};
{%- endif %}
{%- if case.is_uring() || case.is(Method::Pipeline) %}
constexpr std::size_t depth = {{ case.choices().depth }}; // {% include "c_family/depth_words.c" %}
{%- endif %}
{%- if case.has_writers() %}
constexpr std::size_t writer_count = {{ case.writers() }}; // threads
// Buffers: the producer fills one.
constexpr std::size_t depth = writer_count + 1;
{%- endif %}
{%- if case.threads() > 1 %}
constexpr std::size_t thread_count = {{ case.threads() }};
{%- endif %}
{%- if case.is_vectored() %}
constexpr std::size_t vector_length = {{ case.choices().vector }}; // chunks per call
{%- endif %}
{%- if case.is_direct() %}
// With O_DIRECT, addresses, offsets and lengths are multiples of this.
constexpr std::size_t block_size = {{ case.block() }};
{%- endif %}
{%- if let Some(window) = case.writeback() %}
// Write-back is this many bytes behind the writer.
constexpr off_t behind_size = {{ case.size_cpp(window) }};
{%- endif %}
{%- if case.prepares_windows() %}
constexpr std::size_t window_size = {% if case.prepares_all() %}SIZE_MAX{% else %}{{ case.size_cpp(case.window()) }}{% endif %}; // prepared at a time
{%- endif %}
{%- include "c_family/features.c" %}
