{% extends "node/base.js" %}
{% block data %}

/** After a signal, Node repeats all calls itself but this. */
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
  // WebAssembly's memory begins at a page: Linux copies to it faster than to a Buffer.
  const pages = Math.ceil(Math.min(CHUNK, size) / 65536);
  const buffer = new Uint8Array(new WebAssembly.Memory({ initial: pages }).buffer);
  let at = 0;
  while (at < size) {
    const length = read(original, buffer, Math.min(CHUNK, size - at));
    if (length === 0) throw new Error('EIO: the source has become shorter');
    let written = 0;
    while (written < length) {
      written += fs.writeSync(fd, buffer, written, length - written, null);
    }
    at += length;
  }
{%- include "node/after.js" %}
}
{% endblock %}
