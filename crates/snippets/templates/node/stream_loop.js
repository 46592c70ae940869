
  let length;
  do {
    length = nextChunk(next, buffer);
{%- if way.sync_every().is_some() %}
    if (length === 0) break;
{%- endif %}
    // A call may write less than all; after a signal, Node repeats it itself.
{%- include "node/write_chunk.js" %}
{%- if way.counts_node() %}
    at += length;
{%- endif %}
{%- if let Some(every) = way.sync_after_several() %}
    chunks += 1;
    if (chunks === {{ every }}) {
      chunks = 0;
      fs.{{ way.sync_name() }}Sync(fd);
    }
{%- else if way.sync_every().is_some() %}
    fs.{{ way.sync_name() }}Sync(fd);
{%- endif %}
  } while (length === CHUNK);
