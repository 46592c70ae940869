{%- if way.sync_after_several().is_some() %}
  let chunks = 0;
{%- endif %}
  let at = 0;
  // A call may write less than all; after a signal, Node repeats it itself.
  while (at < {{ way.end_node() }}) {
{%- if way.is_vectored() %}
    const vector = [];
    const end = Math.min(at + VECTOR * CHUNK, {{ way.end_node() }});
{%- if way.is_direct() %}
    buffer.set(data.subarray(at, end));
    for (let from = 0; from < end - at; from += CHUNK) {
      vector.push(buffer.subarray(from, Math.min(from + CHUNK, end - at)));
    }
{%- else %}
    for (let from = at; from < end; from += CHUNK) {
      vector.push(data.subarray(from, Math.min(from + CHUNK, end)));
    }
{%- endif %}
    at += some(fs.writevSync(fd, vector, {% if way.is_positional() %}at{% else %}null{% endif %}));
{%- else if way.is_direct() %}
    const length = Math.min(CHUNK, whole - at);
    buffer.set(data.subarray(at, at + length));
    at += some(fs.writeSync(fd, buffer, 0, length, {% if way.is_positional() %}at{% else %}null{% endif %}));
{%- else %}
    at += some(fs.writeSync(fd, data, at, Math.min(CHUNK, size - at), {% if way.is_positional() %}at{% else %}null{% endif %}));
{%- endif %}
{%- if let Some(every) = way.sync_after_several() %}
    chunks += {% if way.is_vectored() %}vector.length{% else %}1{% endif %};
    if (chunks >= {{ every }} || at === {{ way.end_node() }}) {
      chunks = 0;
      fs.{{ way.sync_name() }}Sync(fd);
    }
{%- else if way.sync_every().is_some() %}
    fs.{{ way.sync_name() }}Sync(fd);
{%- endif %}
  }
