{%- if way.maps_target() || way.maps_source() %}
{%- if way.populates() || way.huge_is_collapse() %}

static const size_t WINDOW = {% if way.populates_all() && !way.huge_is_collapse() %}SIZE_MAX{% else %}(size_t){{ way.window() }}{% endif %}; /* so many bytes are prepared at a time */
{%- endif %}
{%- if way.populates() %}

#ifndef MADV_POPULATE_WRITE /* Linux 5.14 */
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif
{%- endif %}
{%- if way.huge_is_collapse() %}

#ifndef MADV_COLLAPSE /* Linux 6.1 */
#define MADV_COLLAPSE 25
#endif
{%- endif %}
{%- endif %}
