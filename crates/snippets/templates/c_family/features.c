{%- if case.is_dontcache() %}

#ifndef RWF_DONTCACHE // Linux 6.14
#define RWF_DONTCACHE 0x80
#endif
{%- endif %}
{%- if case.writes_zeroes() %}

#ifndef FALLOC_FL_WRITE_ZEROES // Linux 6.17
#define FALLOC_FL_WRITE_ZEROES 0x80
#endif
{%- endif %}
{%- if case.is_rwf_atomic() %}

#ifndef RWF_ATOMIC // Linux 6.11
#define RWF_ATOMIC 0x40
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
