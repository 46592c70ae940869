{%- if case.has_own_maps() %}
    in_parts(file, {% if case.has_own_descriptors() %}path, {% endif %}{{ all }})?;
{%- else %}
    let mut map = Map::of_target(file, 0, size)?;
    {% if case.threads() > 1 %}in_parts{% else if case.copies() %}copy_into{% else %}write_part{% endif -%}
    ({% if case.syncs_file_on_the_way() %}file, {% endif %}map.bytes_mut(), {% if case.threads() == 1 && case.copies() %}input{% if case.maps_source() %}, 0{% endif %}{% else %}{{ all }}{% endif %})?;
{%- include "rust/sync_map.rs" %}
{%- endif %}
{%- include "rust/sync.rs" %}
    Ok(())
}
