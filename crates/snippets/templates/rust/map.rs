{% extends "rust/base.rs" %}
{% block fill %}

fn fill(file: &File, {% if case.has_own_descriptors() %}path: &Path, {% endif %}data: &[u8]) -> io::Result<()> {
    let size = data.len();
    if size == 0 {
        return Ok(()); // a mapping cannot be empty
    }
{%- include "rust/prepare.rs" %}
{%- if case.overwrites() %}
    // A mapping does not make the file longer.
    if file.metadata()?.len() < size as u64 {
        file.set_len(size as u64)?;
    }
{%- endif %}
{%- let all = "data" %}
{%- include "rust/fill_map.rs" %}
{%- endblock %}
{% block helpers %}
{%- if case.has_own_maps() %}

/// Writes a part through its own mapping.
fn write_mapped(file: &File, from: usize, data: &[u8]) -> io::Result<()> {
    let mut map = Map::of_target(file, from, data.len())?;
    write_part({% if case.syncs_file_on_the_way() %}file, {% endif %}map.bytes_mut(), data)?;
{%- include "rust/sync_map.rs" %}
    Ok(())
}
{%- endif %}

/// Stores the data into the part of the mapping that is its own.
fn write_part({% if case.syncs_file_on_the_way() %}file: &File, {% endif %}map: &mut [u8], data: &[u8]) -> io::Result<()> {
{%- if case.sync_every().is_none() %}
{%- include "rust/store_chunks.rs" %}
{%- else %}
    let mut chunks = 0;
{%- if case.syncs_map() %}
    let mut synced = 0;
{%- endif %}
{%- if case.prepares_windows() %}
    let mut prepared = 0;
{%- endif %}
    let mut at = 0_usize;
    while at < data.len() {
{%- if case.prepares_windows() %}
        if at == prepared {
            prepared = at.saturating_add(WINDOW).min(data.len());
            prepare(&mut map[at..prepared]){% if case.populates() %}?{% endif %};
        }
{%- endif %}
        let end = at.saturating_add(CHUNK).min({% if case.prepares_windows() %}prepared{% else %}data.len(){% endif %});
        let (to, from) = (&mut map[at..end], &data[at..end]);
        {{ case.store_rust() }};
        at = end;
        chunks += 1;
        if chunks == {{ case.sync_every().unwrap_or(1) }} || at == data.len() {
{%- if case.syncs_map() %}
            let bytes = &mut map[synced / 4096 * 4096..at]; // msync(2) begins at a page
            // SAFETY: the bytes are mapped, and stay as they are.
            unsafe {
                rustix::mm::msync(bytes.as_mut_ptr().cast(), bytes.len(), MsyncFlags::SYNC)?;
            }
            (chunks, synced) = (0, at);
{%- else %}
            chunks = 0;
            rustix::fs::{{ case.sync_name() }}(file)?;
{%- endif %}
        }
    }
{%- endif %}
    Ok(())
}
{%- endblock %}
