{%- if case.overwrites() && case.copies() %}
  fs.ftruncateSync(fd, size); // the file may have been longer
{%- endif %}
{%- if case.syncs_at_end() %}
  // Not repeated after an error: the data may be lost although a second call succeeds.
  fs.{{ case.sync_name() }}Sync(fd);
{%- endif %}
