{% extends "node/base.js" %}
{% block data %}
{%- if case.options.is_stream %}
{%- include "node/write_stream.js" %}
{%- else %}

function writeData(fd, data) {
  const size = data.length;
{%- include "node/before.js" %}
{%- if case.is_direct() %}
  const whole = size - (size % BLOCK);
  // JavaScript cannot see where the data begins: it is copied to aligned memory.
  const buffer = getAlignedBuffer(Math.max(Math.min({% if case.is_vectored() %}VECTOR * {% endif %}CHUNK, whole), BLOCK), BLOCK);
  try {
{%- filter indent(2) %}
{%- include "node/loop.js" %}
{%- endfilter %}
  } finally {
    release(buffer);
  }
  if (whole < size) {
    writeRest(fd, data.subarray(whole), whole);
{%- if case.sync_every().is_some() %}
    fs.{{ case.sync_name() }}Sync(fd);
{%- endif %}
  }
{%- else %}
{%- include "node/loop.js" %}
{%- endif %}
{%- include "node/after.js" %}
}
{%- endif %}
{% endblock %}
