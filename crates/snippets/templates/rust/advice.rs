{%- if way.is_sequential() && !way.maps_source() %}
    let _ = rustix::fs::fadvise(input, 0, None, rustix::fs::Advice::WillNeed);
    let _ = rustix::fs::fadvise(input, 0, None, rustix::fs::Advice::Sequential);
{%- endif %}
