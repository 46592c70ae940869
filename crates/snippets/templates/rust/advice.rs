{%- if case.is_sequential() && !case.maps_source() %}
    let _ = rustix::fs::fadvise(input, 0, None, rustix::fs::Advice::WillNeed);
    let _ = rustix::fs::fadvise(input, 0, None, rustix::fs::Advice::Sequential);
{%- endif %}
