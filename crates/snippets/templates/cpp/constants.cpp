
{%- if let Some(chunk) = way.chunk_cpp() %}

constexpr std::size_t chunk_size = {{ chunk }};
{%- endif %}
{%- if way.is_uring() || way.is(Method::Pipeline) %}
constexpr std::size_t depth = {{ way.depth() }}; // {% if way.is(Method::Pipeline) %}buffers that go round{% else if way.copies() %}chunks under way at the same time{% else %}writes under way at the same time{% endif %}
{%- endif %}
{%- if way.threads() > 1 %}
constexpr std::size_t thread_count = {{ way.threads() }};
{%- endif %}
{%- if way.is_vectored() %}
constexpr std::size_t vector_length = {{ way.vector() }}; // chunks handed over in one call
{%- endif %}
{%- if way.is_direct() && !way.is(Method::UringCopy) %}
// With O_DIRECT, addresses, offsets and lengths are multiples of this.
constexpr std::size_t block_size = {{ way.block() }};
{%- endif %}
{%- if let Some(window) = way.writeback_cpp() %}
// So many bytes behind the writer, data is on its way to the device.
constexpr std::size_t behind_size = {{ window }};
{%- endif %}
{%- if way.prepares_windows_cpp() %}
constexpr std::size_t window_size = {{ way.window_cpp() }}; // prepared at a time
{%- endif %}
{%- if way.is_dontcache() %}

#ifndef RWF_DONTCACHE // Linux 6.14
#define RWF_DONTCACHE 0x80
#endif
{%- endif %}
{%- if way.populates() %}

#ifndef MADV_POPULATE_WRITE // Linux 5.14
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
{%- endif %}
{%- if way.huge_is_collapse() %}

#ifndef MADV_COLLAPSE // Linux 6.1
#define MADV_COLLAPSE 25
#endif
{%- endif %}
