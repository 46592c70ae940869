{%- if way.overwrites() && way.copies() %}
  fs.ftruncateSync(fd, size); // the file may have been longer
{%- endif %}
{%- if way.syncs_at_end() %}
  // Not repeated after an error: the data may be lost though a second call succeeds.
  fs.{{ way.sync_name() }}Sync(fd);
{%- endif %}
