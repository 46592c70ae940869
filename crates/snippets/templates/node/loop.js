{%- if case.sync_after_several().is_some() %}
  let chunks = 0;
{%- endif %}
  let at = 0;
  // A call may write less. After a signal, Node repeats it.
  while (at < {{ case.end_of_calls() }}) {
{%- if case.is_vectored() %}
    const vector = [];
    const end = Math.min(at + VECTOR * CHUNK, {{ case.end_of_calls() }});
{%- if case.is_direct() %}
    buffer.set(data.subarray(at, end));
    for (let from = 0; from < end - at; from += CHUNK) {
      vector.push(buffer.subarray(from, Math.min(from + CHUNK, end - at)));
    }
{%- else %}
    for (let from = at; from < end; from += CHUNK) {
      vector.push(data.subarray(from, Math.min(from + CHUNK, end)));
    }
{%- endif %}
    at += some(fs.writevSync(fd, vector, {% if case.is_positional() %}at{% else %}null{% endif %}));
{%- else if case.is_direct() %}
    const length = Math.min(CHUNK, whole - at);
    buffer.set(data.subarray(at, at + length));
    at += some(fs.writeSync(fd, buffer, 0, length, {% if case.is_positional() %}at{% else %}null{% endif %}));
{%- else %}
    at += some(fs.writeSync(fd, data, at, Math.min(CHUNK, size - at), {% if case.is_positional() %}at{% else %}null{% endif %}));
{%- endif %}
{%- if let Some(every) = case.sync_after_several() %}
    chunks += {% if case.is_vectored() %}vector.length{% else %}1{% endif %};
    if (chunks >= {{ every }} || at === {{ case.end_of_calls() }}) {
      chunks = 0;
      fs.{{ case.sync_name() }}Sync(fd);
    }
{%- else if case.sync_every().is_some() %}
    fs.{{ case.sync_name() }}Sync(fd);
{%- endif %}
  }
