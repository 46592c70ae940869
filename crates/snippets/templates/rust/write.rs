{% extends "rust/base.rs" %}
{% block declarations %}
{%- if way.is_dontcache() %}
/// RWF_DONTCACHE, Linux 6.14.
const DONTCACHE: ReadWriteFlags = ReadWriteFlags::from_bits_retain(0x80);
{%- endif %}
{%- endblock %}
{% block fill %}
{%- if way.streams() %}
{%- include "rust/fill_stream.rs" %}
{%- else %}

fn fill({% if way.is_inline_rust() %}{{ way.mut_rust() }}{% endif %}file: &File, {% if way.has_own_descriptors() %}path: &Path, {% endif %}data: &[u8]) -> io::Result<()> {
{%- if way.is_direct() %}
    let (data, rest) = data.split_at(data.len() / BLOCK * BLOCK);
{%- endif %}
{%- if way.reserves() %}
    reserve(file, data.len(){% if way.is_direct() %} + rest.len(){% endif %})?;
{%- endif %}
{%- if way.fills_with_zeros() %}
    fill_with_zeros(file, data.len())?;
{%- endif %}
{%- if way.threads() > 1 %}
    in_parts(file, {% if way.has_own_descriptors() %}path, {% endif %}data)?;
{%- else if way.is_inline_rust() %}
{%- if way.has_offset_rust() && !way.is_one_call_rust() %}
    let mut offset = 0;
{%- endif %}
{%- include "rust/write_loop.rs" %}
{%- else %}
    write_part(file, data{% if way.has_offset_rust() %}, 0{% endif %})?;
{%- endif %}
{%- if way.is_direct() %}
    if !rest.is_empty() {
        end_direct(file)?;
        file.write_all_at(rest, data.len() as u64)?;
{%- if way.sync_every().is_some() || way.is_rwf_dsync() %}
        rustix::fs::{% if way.sync_every().is_some() %}{{ way.sync_name() }}{% else %}fdatasync{% endif %}(file)?;
{%- endif %}
    }
{%- endif %}
{%- include "rust/sync.rs" %}
    Ok(())
}
{%- endif %}
{%- endblock %}
{% block helpers %}
{%- if !way.is_inline_rust() %}

/// Writes a part of the file{% if way.is_positional() %} from an offset on{% else %}, where its position is{% endif %}.
fn write_part({{ way.mut_rust() }}file: &File, data: &[u8]{% if way.has_offset_rust() %}, {% if !way.is_one_call_rust() %}mut {% endif %}offset: u64{% endif %}) -> io::Result<()> {
{%- include "rust/write_loop.rs" %}
    Ok(())
}
{%- endif %}
{%- if way.is_vectored() || way.has_flags() %}

/// Hands over all bytes: a call may write fewer, and a signal may interrupt it.
{{ way.write_all_signature_rust() }} {
{%- if way.streams() %}
    IoSlice::advance_slices(&mut vector, 0); // a vector of no bytes is empty
{%- endif %}
    while !vector.is_empty() {
        match rustix::io::{{ way.vectored_call_rust() }} {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
{%- if way.is_positional() %}
            Ok(written) => {
                IoSlice::advance_slices(&mut vector, written);
                offset += written as u64;
            }
{%- else %}
            Ok(written) => IoSlice::advance_slices(&mut vector, written),
{%- endif %}
            Err(Errno::INTR) => {}
{%- if way.is_dontcache() %}
            // This filesystem or kernel cannot: the data stays in the page cache.
            Err(Errno::OPNOTSUPP) if flags.contains(DONTCACHE) => flags.remove(DONTCACHE),
{%- endif %}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}
{%- endif %}
{%- include "rust/behind.rs" %}
{%- if way.threads() > 1 %}
{%- include "rust/parts.rs" %}
{%- endif %}
{%- endblock %}
