

fn fill({{ case.mut_rust() }}file: &File, source: &mut impl Read{% if case.expects() %}, expected: u64{% endif %}) -> io::Result<()> {
{%- if case.reserves() %}
    reserve(file, expected)?;
{%- endif %}
{%- if case.fills_with_zeros() %}
    fill_with_zeros(file, expected{% if case.is_direct() %} / BLOCK as u64 * BLOCK as u64{% endif %})?;
{%- endif %}
    let mut memory = Vec::new();
    let buffer = aligned(&mut memory, CHUNK, {{ case.alignment_rust("4096") }});
{%- if case.counts_bytes() %}
    let mut offset = 0;
{%- endif %}
{%- include "rust/before_chunks.rs" %}
    let mut length = CHUNK;
    while length == CHUNK {
        length = read_chunk(source, buffer)?;
{%- if case.sync_every().is_some() %}
        if length == 0 {
            break;
        }
{%- endif %}
{%- if case.is_direct() %}
        let (chunk, rest) = buffer[..length].split_at(length / BLOCK * BLOCK);
        {{ case.call_rust("chunk", "offset") }}?;
        if !rest.is_empty() {
            end_direct(file)?;
            {{ case.call_rust("rest", "offset + chunk.len() as u64") }}?;
        }
{%- else %}
        let chunk = &buffer[..length];
        {{ case.call_rust("chunk", "offset") }}?;
{%- endif %}
{%- if case.counts_bytes() %}
        offset += length as u64;
{%- endif %}
{%- include "rust/after_chunk.rs" %}
    }
{%- include "rust/after_chunks.rs" %}
{%- if case.expects() %}
    if offset < expected {
        file.set_len(offset)?;
    }
{%- endif %}
{%- include "rust/sync.rs" %}
    Ok(())
}

/// Fills the buffer with the next chunk. Only the last is shorter.
fn read_chunk(source: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match source.read(&mut buffer[length..]) {
            Ok(0) => break,
            Ok(got) => length += got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}
