
{%- if let Some(chunk) = case.chunk_cpp() %}

constexpr std::size_t chunk_size = {{ chunk }};
{%- endif %}
{%- if case.is_uring() || case.is(Method::Pipeline) %}
constexpr std::size_t depth = {{ case.depth() }}; // {% if case.is(Method::Pipeline) %}buffers that go round{% else if case.copies() %}chunks under way at the same time{% else %}writes under way at the same time{% endif %}
{%- endif %}
{%- if case.threads() > 1 %}
constexpr std::size_t thread_count = {{ case.threads() }};
{%- endif %}
{%- if case.is_vectored() %}
constexpr std::size_t vector_length = {{ case.vector() }}; // chunks handed over in one call
{%- endif %}
{%- if case.is_direct() && !case.is(Method::UringCopy) %}
// With O_DIRECT, addresses, offsets and lengths are multiples of this.
constexpr std::size_t block_size = {{ case.block() }};
{%- endif %}
{%- if let Some(window) = case.writeback_cpp() %}
// So many bytes behind the writer, data is on its way to the device.
constexpr std::size_t behind_size = {{ window }};
{%- endif %}
{%- if case.prepares_windows_cpp() %}
constexpr std::size_t window_size = {{ case.window_cpp() }}; // prepared at a time
{%- endif %}
{%- if case.is_dontcache() %}

#ifndef RWF_DONTCACHE // Linux 6.14
#define RWF_DONTCACHE 0x80
#endif
{%- endif %}
{%- if case.populates() %}

#ifndef MADV_POPULATE_WRITE // Linux 5.14
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
{%- endif %}
{%- if case.huge_is_collapse() %}

#ifndef MADV_COLLAPSE // Linux 6.1
#define MADV_COLLAPSE 25
#endif
{%- endif %}
