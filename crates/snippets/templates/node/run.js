{%- if case.options.is_atomic %}
  const name = `${path}.${process.pid}.${process.hrtime.bigint()}.tmp`; // until it is complete
  const old = fs.statSync(path, { throwIfNoEntry: false });
{%- if case.copies() %}
  const mode = {{ case.new_mode_node("(old ? old.mode : sourceMode)") }};
{%- else %}
  const mode = old ? old.mode & 0o777 : 0o666;
{%- endif %}
{%- endif %}
  const fd = {% if case.is_direct() %}openFile{% else %}fs.openSync{% endif %}({{ case.written_name() }}, {{ case.access_node() }}{% if case.options.is_atomic %}, mode{% else if case.chooses_mode() %}, {{ case.new_mode_node("sourceMode") }}{% else if !case.is_direct() %}, 0o666{% endif %});
{%- if case.creates_name() %}
  try {
{%- if case.options.is_atomic %}
    closeAfter(fd, () => {
      if (old) keepMode(fd, old);
      {% include "node/data_call.js" %};
{%- if case.reopens_copy() %}
      if (!old) narrowMode(fd, sourceMode);
{%- endif %}
    });
    fs.renameSync(name, path);
{%- else %}
{%- if case.reopens_copy() %}
    closeAfter(fd, () => {
      {% include "node/data_call.js" %};
      narrowMode(fd, sourceMode);
    });
{%- else %}
    closeAfter(fd, () => {% include "node/data_call.js" %});
{%- endif %}
{%- if case.is_durable() %}
    syncDirectory(path);
{%- endif %}
{%- endif %}
  } catch (error) {
    quietly(() => fs.unlinkSync({{ case.written_name() }}));
    throw error;
  }
{%- if case.options.is_atomic && case.is_durable() %}
  syncDirectory(path);
{%- endif %}
{%- else %}
  closeAfter(fd, () => {% include "node/data_call.js" %});
{%- endif %}
