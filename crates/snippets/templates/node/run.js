{%- if case.options.is_atomic %}
  const name = `${path}.${process.pid}.${process.hrtime.bigint()}.tmp`; // until it is complete
  const old = fs.statSync(path, { throwIfNoEntry: false });
  const mode = old ? old.mode & 0o777 : 0o666;
{%- endif %}
  const fd = {% if case.is_direct() %}openFile{% else %}fs.openSync{% endif %}({{ case.written_name() }}, {{ case.access_node() }}{% if case.options.is_atomic %}, mode{% else if !case.is_direct() %}, 0o666{% endif %});
{%- if case.creates_name() %}
  try {
{%- if case.options.is_atomic %}
    closeAfter(fd, () => {
      if (old) keepMode(fd, old);
      {% include "node/data_call.js" %};
    });
    fs.renameSync(name, path);
{%- else %}
    closeAfter(fd, () => {% include "node/data_call.js" %});
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
