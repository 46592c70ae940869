{%- if case.maps_target() || case.maps_source() %}
{%- if case.populates() || case.huge_is_collapse() %}

static const size_t WINDOW = {% if case.populates_all() && !case.huge_is_collapse() %}SIZE_MAX{% else %}(size_t){{ case.window() }}{% endif %}; // so many bytes are prepared at a time
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
{%- endif %}
