{%- include "c/chunk.c" %}
{%- if case.has_writers() %}
enum { WRITERS = {{ case.writers() }} }; // threads
enum { DEPTH = WRITERS + 1 }; // buffers: the producer fills one
{%- endif %}
{%- if case.is_uring() || case.is(Method::Pipeline) %}
enum { DEPTH = {{ case.choices().depth }} }; // {% include "c_family/depth_words.c" %}
{%- endif %}
{%- if case.threads() > 1 %}
enum { THREADS = {{ case.threads() }} };
{%- endif %}
{%- if case.is_vectored() %}
enum { VECTOR = {{ case.choices().vector }} }; // chunks per call
{%- endif %}
{%- if case.is_direct() %}
enum { BLOCK = {{ case.block() }} }; // with O_DIRECT, addresses, offsets and lengths are multiples of this
{%- endif %}
{%- if let Some(window) = case.writeback() %}
static const off_t BEHIND = (off_t){{ window }}; // write-back is this many bytes behind the writer
{%- endif %}
{%- if case.prepares_windows() %}
static const size_t WINDOW = {% if case.prepares_all() %}SIZE_MAX{% else %}(size_t){{ case.window() }}{% endif %}; // bytes prepared at a time
{%- endif %}
{%- include "c_family/features.c" %}
