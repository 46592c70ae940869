{%- if case.is_nontemporal() %}

#if defined(__x86_64__)
#include <immintrin.h>
#endif
{%- endif %}
