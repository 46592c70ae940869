{%- if way.overwrites() && way.copies() %}
  fs.ftruncateSync(fd, size); // the file may have been longer
{%- endif %}
{%- if way.syncs_at_end() %}
  // After an error of this call, the data may be lost though a second call succeeds: write it anew.
  fs.{{ way.sync_name() }}Sync(fd);
{%- endif %}
