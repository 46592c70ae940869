

fn fill({{ case.mut_rust() }}file: &File, source: &mut impl Read{% if case.expects() %}, expected: u64{% endif %}) -> io::Result<()> {
{%- if case.reserves() %}
    reserve(file, expected)?;
{%- endif %}
{%- if case.fills_with_zeros() %}
    fill_with_zeros(file, expected{% if case.is_direct() %} / BLOCK as u64 * BLOCK as u64{% endif %})?;
{%- endif %}
{%- if case.has_writers() %}
    let mut memory = Vec::new();
    let buffers = aligned(&mut memory, DEPTH * CHUNK, {{ case.alignment_rust("4096") }});
    let (free, waiting) = mpsc::channel();
    let (filled, chunks) = mpsc::channel();
    let chunks = Mutex::new(chunks);
    for buffer in buffers.chunks_exact_mut(CHUNK) {
        let _ = free.send(buffer);
    }
    let mut offset = 0;
    let last = thread::scope(|scope| {
        let filled = filled; // the writers end when it is dropped
        let write = || {
            let (free, chunks) = (free.clone(), &chunks);
            thread::Builder::new().spawn_scoped(scope, move || write_chunks(file, chunks, free))
        };
        let writers = (0..WRITERS)
            .map(|_| write())
            .collect::<io::Result<Vec<_>>>()?;
        drop(free);
        let mut last: &[u8] = &[];
        // It ends early if all writers have failed.
        while let Ok(buffer) = waiting.recv() {
            let length = read_chunk(source, buffer)?;
            if length < CHUNK {
                last = &buffer[..length];
                break;
            }
            let _ = filled.send((buffer, offset));
            offset += CHUNK as u64;
        }
        drop(filled);
        for writer in writers {
            writer.join().expect("no writer panics")?;
        }
        Ok::<_, io::Error>(last)
    })?;
{%- if case.is_dontcache() %}
    let mut flags = DONTCACHE{% if case.is_rwf_dsync() %} | ReadWriteFlags::DSYNC{% endif %};
{%- endif %}
{%- if case.is_direct() %}
    let (chunk, rest) = last.split_at(last.len() / BLOCK * BLOCK);
    {{ case.call_rust("chunk", "offset") }}?;
    if !rest.is_empty() {
        end_direct(file)?;
        {{ case.call_rust("rest", "offset + chunk.len() as u64") }}?;
    }
{%- else %}
    {{ case.call_rust("last", "offset") }}?;
{%- endif %}
{%- if case.expects() %}
    offset += last.len() as u64;
{%- endif %}
{%- else %}
    let mut memory = Vec::new();
    let buffer = aligned(&mut memory, CHUNK, {{ case.alignment_rust("4096") }});
{%- if case.counts_bytes() %}
    let mut offset = 0;
{%- endif %}
{%- include "rust/before_chunks.rs" %}
{%- if case.reserves_ahead() %}
    let mut reserved = 0;
{%- endif %}
    let mut length = CHUNK;
    while length == CHUNK {
        length = read_chunk(source, buffer)?;
{%- if case.reserves_ahead() %}
        reserve_ahead(file, &mut reserved, offset + length as u64)?;
{%- endif %}
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
{%- endif %}
{%- if case.expects() %}
    if offset < expected {
        file.set_len(offset)?;
    }
{%- endif %}
{%- if case.reserves_ahead() %}
    file.set_len(offset)?; // the file ends with the data
{%- if case.is_durable() && !case.syncs_at_end() %}
    rustix::fs::fdatasync(file)?;
{%- endif %}
{%- endif %}
{%- include "rust/sync.rs" %}
    Ok(())
}

{%- if case.has_writers() %}

/// A full buffer, and its place in the file.
type Chunk<'b> = (&'b mut [u8], u64);

/// Writes chunks until there are no more, or one fails.
fn write_chunks<'b>(
    file: &File,
    chunks: &Mutex<Receiver<Chunk<'b>>>,
    free: Sender<&'b mut [u8]>,
) -> io::Result<()> {
{%- if case.is_dontcache() %}
    let mut flags = DONTCACHE{% if case.is_rwf_dsync() %} | ReadWriteFlags::DSYNC{% endif %};
{%- endif %}
    let next = || chunks.lock().expect("no writer panics").recv();
    while let Ok((chunk, offset)) = next() {
        {{ case.call_rust("chunk", "offset") }}?;
        let _ = free.send(chunk); // the producer may have ended
    }
    Ok(())
}
{%- endif %}

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
