{% extends "rust/base.rs" %}
{% block fill %}
{%- include "rust/copy_fill.rs" %}
{%- endblock %}
{% block helpers %}

/// Copies the bytes between two offsets. Both files are at their position `from`.
fn copy_range({{ case.mut_rust() }}file: &File, input: &File, from: usize, until: usize) -> io::Result<()> {
    if from == until {
        return Ok(());
    }
{%- include "rust/advice.rs" %}
    let chunk = {{ case.at_most_rust("until - from") }};
    let stride = chunk.next_multiple_of(4096);
    let mut memory = Vec::new();
    let (give, empty) = mpsc::sync_channel(DEPTH);
    let (fill, filled) = mpsc::sync_channel(DEPTH);
    for buffer in aligned(&mut memory, DEPTH * stride, 4096).chunks_mut(stride) {
        let _ = give.send(&mut buffer[..chunk]); // its receiver is here
    }
    // After an error the ends of the channels that are moved here are dropped, and the reader ends.
    thread::scope(move |scope| {
        let read = move || read_all(input, until - from, &empty, &fill);
        let reader = thread::Builder::new().spawn_scoped(scope, read)?;
{%- if case.writeback().is_some() %}
        let mut behind = Behind::new(from as u64);
        let mut at = from as u64;
{%- endif %}
        while let Ok((buffer, length)) = filled.recv() {
            {% if case.is_direct() %}write_direct(file, &buffer[..length]){% else %}file.write_all(&buffer[..length]){% endif %}?;
{%- if case.writeback().is_some() %}
            at += length as u64;
            behind.reach(file, at)?;
{%- endif %}
            let _ = give.send(buffer); // after the last chunk the reader is gone
        }
        reader.join().expect("the reader does not panic")
    })
}

/// Fills buffers, until all is read or the writer has failed.
fn read_all<'b>(
    input: &File,
    mut left: usize,
    empty: &Receiver<&'b mut [u8]>,
    fill: &SyncSender<(&'b mut [u8], usize)>,
) -> io::Result<()> {
    while left > 0
        && let Ok(buffer) = empty.recv()
    {
        let most = buffer.len().min(left);
        let length = retry_on_intr(|| rustix::io::read(input, &mut buffer[..most]))?;
        if length == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into()); // the source has become shorter
        }
        left -= length;
        if fill.send((buffer, length)).is_err() {
            break;
        }
    }
    Ok(())
}
{%- endblock %}
