{% extends "node/base.js" %}
{% block data %}

/** After a signal, Node repeats all calls but this. */
function read(fd, buffer, length) {
  for (;;) {
    try {
      return fs.readSync(fd, buffer, 0, length, null);
    } catch (error) {
      if (error.code !== 'EINTR') throw error;
    }
  }
}

function copyData(fd, original, size) {
{%- include "node/before.js" %}
{%- if case.is_direct() %}
  const buffer = getAlignedBuffer(Math.max(Math.min(CHUNK, size), BLOCK), BLOCK);
  try {
{%- filter indent(2) %}
{%- include "node/copy_loop.js" %}
{%- endfilter %}
  } finally {
    release(buffer);
  }
{%- else %}
  // WebAssembly's memory is page-aligned: Linux copies to it faster than to a Buffer.
  const pages = Math.ceil(Math.min(CHUNK, size) / 65536);
  const buffer = new Uint8Array(new WebAssembly.Memory({ initial: pages }).buffer);
{%- include "node/copy_loop.js" %}
{%- endif %}
{%- include "node/after.js" %}
  // It may be longer now, or never had that length, as in /proc.
  if (fs.readSync(original, Buffer.alloc(1), 0, 1, size) > 0) throw new Error('EIO: the source has become longer');
}
{% endblock %}
