{% extends "rust/base.rs" %}
{% block fill %}

fn fill(file: &File, {% if case.has_own_descriptors() %}path: &Path, {% endif %}input: &File, {% if case.threads() > 1 %}source: &Path, {% endif %}size: usize) -> io::Result<()> {
{%- if case.overwrites() %}
    // A mapping does not make the file longer, and it may have been longer.
    file.set_len(size as u64)?;
{%- endif %}
    if size == 0 {
        return Ok(()); // a mapping cannot be empty
    }
{%- include "rust/prepare.rs" %}
{%- let all = "input, source, size" %}
{%- include "rust/fill_map.rs" %}
{%- endblock %}
{% block helpers %}
{%- if case.has_own_maps() %}

/// Copies a part into its own mapping.
fn copy_mapped(file: &File, input: &File, from: usize, until: usize) -> io::Result<()> {
    let mut map = Map::of_target(file, from, until - from)?;
    copy_into(map.bytes_mut(), input{% if case.maps_source() %}, from{% endif %})?;
{%- include "rust/sync_map.rs" %}
    Ok(())
}
{%- endif %}
{% if case.maps_source() %}
/// Copies from an offset on, into the part of the mapping that begins there.
fn copy_into(map: &mut [u8], input: &File, from: usize) -> io::Result<()> {
    let source = Map::of_source(input, from, map.len())?;
    let data = source.bytes();
{%- if case.is_sequential() %}
    advise(data, Advice::WillNeed);
    advise(data, Advice::Sequential);
{%- endif %}
{%- include "rust/store_chunks.rs" %}
    Ok(())
}
{%- else %}
/// Copies from the source's position on, into the part of the mapping that begins there.
fn copy_into(map: &mut [u8], input: &File) -> io::Result<()> {
{%- include "rust/advice.rs" %}
{%- if case.prepares_windows() %}
    let mut prepared = 0;
{%- endif %}
    let mut at = 0_usize;
    while at < map.len() {
        let most = {{ case.at_most_rust("map.len() - at") }};
{%- if case.prepares_windows() %}
        if at >= prepared {
            prepared = map.len().min((at / WINDOW + 1) * WINDOW);
            // A page that has been written to is there.
            let start = at.next_multiple_of(4096).min(prepared);
            prepare(&mut map[start..prepared]){% if case.populates() %}?{% endif %};
        }
{%- endif %}
        let moved = retry_on_intr(|| rustix::io::read(input, &mut map[at..at + most]))?;
        if moved == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into()); // the source has become shorter
        }
        at += moved;
    }
    Ok(())
}
{%- endif %}
{%- endblock %}
