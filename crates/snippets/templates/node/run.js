{%- if way.atomic() %}
  const name = `${path}.${process.pid}.tmp`; // until it is whole
{%- endif %}
  const fd = {% if way.is_direct() %}openFile({{ way.name_node() }}, {{ way.access_node() }}){% else %}fs.openSync({{ way.name_node() }}, {{ way.access_node() }}, 0o666){% endif %};
  try {
{%- if way.creates_name() %}
    try {
      {{ way.data_call_node() }};
    } finally {
      fs.closeSync(fd); // may report a late error of the filesystem, such as NFS
    }
{%- if way.atomic() %}
    fs.renameSync(name, path);
{%- else if way.is_durable() %}
    syncDirectory(path);
{%- endif %}
  } catch (error) {
    fs.unlinkSync({{ way.name_node() }});
    throw error;
  }
{%- if way.atomic() && way.is_durable() %}
  syncDirectory(path);
{%- endif %}
{%- else %}
    {{ way.data_call_node() }};
  } finally {
    fs.closeSync(fd); // may report a late error of the filesystem, such as NFS
  }
{%- endif %}
