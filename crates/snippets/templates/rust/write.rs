{% extends "rust/base.rs" %}
{% block declarations %}
{%- if case.is_dontcache() %}
/// RWF_DONTCACHE, Linux 6.14.
const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);
{%- endif %}
{%- endblock %}
{% block fill %}
{%- if case.options.is_stream %}
{%- include "rust/fill_stream.rs" %}
{%- else %}

fn fill({% if case.threads() == 1 %}{{ case.mut_rust() }}{% endif %}file: &File, {% if case.has_own_descriptors() %}path: &Path, {% endif %}data: &[u8]) -> io::Result<()> {
{%- if case.is_direct() %}
    let (data, rest) = data.split_at(data.len() / BLOCK * BLOCK);
{%- endif %}
{%- if case.reserves() %}
    reserve(file, data.len(){% if case.is_direct() %} + rest.len(){% endif %})?;
{%- endif %}
{%- if case.fills_with_zeros() %}
    fill_with_zeros(file, data.len())?;
{%- endif %}
{%- if case.threads() > 1 %}
    in_parts(file, {% if case.has_own_descriptors() %}path, {% endif %}data)?;
{%- else %}
{%- if case.has_offset() && !case.is_one_call_rust() %}
    let mut offset = 0;
{%- endif %}
{%- include "rust/write_loop.rs" %}
{%- endif %}
{%- if case.is_direct() %}
    if !rest.is_empty() {
        end_direct(file)?;
        file.write_all_at(rest, data.len() as u64)?;
{%- if case.sync_every().is_some() || case.is_rwf_dsync() %}
        rustix::fs::{% if case.sync_every().is_some() %}{{ case.sync_name() }}{% else %}fdatasync{% endif %}(file)?;
{%- endif %}
    }
{%- endif %}
{%- include "rust/sync.rs" %}
    Ok(())
}
{%- endif %}
{%- endblock %}
{% block helpers %}
{%- if case.threads() > 1 %}

/// Writes a part of the file{% if case.is_positional() %} from an offset on{% else %}, where its position is{% endif %}.
fn write_part({{ case.mut_rust() }}file: &File, data: &[u8]{% if case.has_offset() %}, {% if !case.is_one_call_rust() %}mut {% endif %}offset: u64{% endif %}) -> io::Result<()> {
{%- include "rust/write_loop.rs" %}
    Ok(())
}
{%- endif %}
{%- include "rust/write_all.rs" %}
{%- endblock %}
