
  let at = 0;
  while (at < size) {
{%- if case.is_direct() %}
    // Only the last chunk may end within a block.
    const most = Math.min(CHUNK, size - at);
    let length = 0;
    while (length < most) {
      const got = read(original, buffer.subarray(length), most - length);
      if (got === 0) throw new Error('EIO: the source has become shorter');
      length += got;
    }
{%- else %}
    const length = read(original, buffer, Math.min(CHUNK, size - at));
    if (length === 0) throw new Error('EIO: the source has become shorter');
{%- endif %}
{%- include "node/write_chunk.js" %}
    at += length;
  }
