// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//
{%- for line in case.errors(reports) %}
// {{ line }}
{%- endfor %}
{%- if case.maps_target() %}
// If {% if case.maps_source() %}either{% else %}the{% endif %} file becomes shorter or its disk full, SIGBUS ends the program
{%- if !case.reserves_blocks() %}: reserve
// its blocks with fallocate(2) where that matters{% endif %}.
{%- endif %}
// To compile it: {{ compiler }} -O2{% if case.threads() > 1 || case.has_writers() || case.is(Method::Pipeline) %} -pthread{% endif %} {{ file }}{% if case.is_uring() %} -luring{% endif %}{% if case.computes_sizes() && *compiler == "cc" %} -lm{% endif %}
