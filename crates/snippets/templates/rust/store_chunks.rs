{%- if case.prepares_windows() %}
    for (to, from) in map.chunks_mut(WINDOW).zip(data.chunks(WINDOW)) {
{%- if case.maps_source() && case.populates() %}
        advise(from, Advice::LinuxPopulateRead);
{%- endif %}
        prepare(to){% if case.populates() %}?{% endif %};
        for (to, from) in to.chunks_mut(CHUNK).zip(from.chunks(CHUNK)) {
            {{ case.store_rust() }};
        }
    }
{%- else %}
    for (to, from) in map.chunks_mut(CHUNK).zip(data.chunks(CHUNK)) {
        {{ case.store_rust() }};
    }
{%- endif %}
