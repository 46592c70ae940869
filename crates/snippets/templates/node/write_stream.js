

/** Fills the buffer with the next chunk. Only the last is shorter. */
function nextChunk(next, buffer) {
  let length = 0;
  while (length < CHUNK) {
    const free = buffer.subarray(length);
    const got = next(free);
    if (!Number.isInteger(got) || got < 0 || got > free.length) {
      throw new RangeError(`The producer returned ${got}, and not 0 to ${free.length} bytes`);
    }
    if (got === 0) break;
    length += got;
  }
  return length;
}

function writeData(fd, next{% if case.expects() %}, expected{% endif %}) {
{%- include "node/before.js" %}
{%- if case.sync_after_several().is_some() %}
  let chunks = 0;
{%- endif %}
{%- if case.ends_at_offset() %}
  let at = 0;
{%- endif %}
{%- if case.is_direct() %}
  const buffer = getAlignedBuffer(CHUNK, BLOCK);
  try {
{%- filter indent(2) %}
{%- include "node/stream_loop.js" %}
{%- endfilter %}
  } finally {
    release(buffer);
  }
{%- else %}
  // Page-aligned memory, such as WebAssembly's, is copied faster.
  const memory = new WebAssembly.Memory({ initial: Math.ceil(CHUNK / 65536) });
  const buffer = new Uint8Array(memory.buffer, 0, CHUNK);
{%- include "node/stream_loop.js" %}
{%- endif %}
{%- if case.sync_after_several().is_some() %}
  if (chunks > 0) fs.{{ case.sync_name() }}Sync(fd);
{%- endif %}
{%- if case.expects() %}
{%- if case.is_durable() && !case.syncs_at_end() %}
  if (at < expected) {
    fs.ftruncateSync(fd, at);
    fs.fsyncSync(fd);
  }
{%- else %}
  if (at < expected) fs.ftruncateSync(fd, at);
{%- endif %}
{%- endif %}
{%- include "node/after.js" %}
}
