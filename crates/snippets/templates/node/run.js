{%- if way.atomic() %}
  const name = `${path}.${process.pid}.${process.hrtime.bigint()}.tmp`; // until it is whole
  const old = fs.statSync(path, { throwIfNoEntry: false });
  const mode = old ? old.mode & 0o777 : 0o666;
{%- endif %}
  const fd = {% if way.is_direct() %}openFile{% else %}fs.openSync{% endif %}({{ way.name_node() }}, {{ way.access_node() }}{% if way.atomic() %}, mode{% else if !way.is_direct() %}, 0o666{% endif %});
{%- if way.creates_name() %}
  try {
{%- if way.atomic() %}
    closeAfter(fd, () => {
      if (old) keepMode(fd, old);
      {{ way.data_call_node() }};
    });
    fs.renameSync(name, path);
{%- else %}
    closeAfter(fd, () => {{ way.data_call_node() }});
{%- if way.is_durable() %}
    syncDirectory(path);
{%- endif %}
{%- endif %}
  } catch (error) {
    quietly(() => fs.unlinkSync({{ way.name_node() }}));
    throw error;
  }
{%- if way.atomic() && way.is_durable() %}
  syncDirectory(path);
{%- endif %}
{%- else %}
  closeAfter(fd, () => {{ way.data_call_node() }});
{%- endif %}
