{%- if case.is_direct() %}
    let is_aligned = data.as_ptr().addr().is_multiple_of(BLOCK);
    let mut memory = Vec::new();
    let most = data.len().min(CHUNK{% if case.is_vectored() && case.chunk().is_some() %} * VECTOR{% endif %});
    let size = if is_aligned { 0 } else { most };
    let buffer = aligned(&mut memory, size, {{ case.alignment_rust("BLOCK") }});
{%- endif %}
{%- include "rust/before_chunks.rs" %}
{%- if case.is_one_call_rust() %}
{%- if case.is_positional() %}
    file.write_all_at(data, {% if case.threads() == 1 %}0{% else %}offset{% endif %})?;
{%- else %}
    file.write_all(data)?;
{%- endif %}
{%- else %}
    for chunk in data.chunks(CHUNK{% if case.is_vectored() && case.chunk().is_some() %} * VECTOR{% endif %}) {
{%- if case.is_direct() %}
        let chunk = if is_aligned {
            chunk
        } else {
            let copy = &mut buffer[..chunk.len()];
            copy.copy_from_slice(chunk);
            copy
        };
{%- endif %}
{%- if case.is_vectored() %}
        let mut vector = [IoSlice::new(&[]); VECTOR];
        let mut count = 0;
        for (slice, chunk) in vector.iter_mut().zip(chunk.chunks(CHUNK)) {
            *slice = IoSlice::new(chunk);
            count += 1;
        }
{%- endif %}
        {{ case.call_rust("chunk", "offset") }}?;
{%- if case.has_offset() %}
        offset += chunk.len() as u64;
{%- endif %}
{%- include "rust/after_chunk.rs" %}
    }
{%- include "rust/after_chunks.rs" %}
{%- endif %}
