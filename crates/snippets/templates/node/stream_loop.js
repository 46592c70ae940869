
  let length;
  do {
    length = nextChunk(next, buffer);
{%- if case.sync_every().is_some() %}
    if (length === 0) break;
{%- endif %}
    // A call may write less. After a signal, Node repeats it.
{%- include "node/write_chunk.js" %}
{%- if case.ends_at_offset() %}
    at += length;
{%- endif %}
{%- if let Some(every) = case.sync_after_several() %}
    chunks += 1;
    if (chunks === {{ every }}) {
      chunks = 0;
      fs.{{ case.sync_name() }}Sync(fd);
    }
{%- else if case.sync_every().is_some() %}
    fs.{{ case.sync_name() }}Sync(fd);
{%- endif %}
  } while (length === CHUNK);
