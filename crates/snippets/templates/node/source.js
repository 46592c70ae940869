{%- if case.copies() || case.options.is_program && !case.options.is_stream %}

/** Only regular files have a length. */
function statusOf(fd, path) {
  const status = fs.fstatSync(fd);
  if (!status.isFile()) throw new Error(`EINVAL: ${path} is not a regular file`);
  return status;
}
{%- endif %}
{%- if case.meets_source() %}

/** Whether the path leads to the source: to open it would empty that. */
function isSource(path, original) {
  const source = fs.fstatSync(original, { bigint: true });
  const target = fs.statSync(path, { bigint: true, throwIfNoEntry: false });
  return target !== undefined && target.dev === source.dev && target.ino === source.ino;
}
{%- endif %}
{%- if case.reopens_copy() %}

/** The owner may read and write the copy until now, because it is opened again. */
function narrowMode(fd, mode) {
  if ((mode & 0o600) !== 0o600) fs.fchmodSync(fd, fs.fstatSync(fd).mode & mode & 0o777);
}
{%- endif %}
