{%- if case.meets_source() %}

// isSource tells whether the path leads to the source: to open it would empty that.
func isSource(path string, source os.FileInfo) bool {
	target, err := os.Stat(path)
	return err == nil && os.SameFile(target, source)
}
{%- endif %}
{%- if case.checks_end() %}

// endsAt reads once more where the source should end: it may be longer now, or never had that length, as in /proc.
func endsAt(input *os.File, size int64) error {
	n, err := input.ReadAt(make([]byte, 1), size)
	if n > 0 {
		return &os.PathError{Op: "read", Path: input.Name(), Err: errors.New("the source has become longer")}
	}
	if err == io.EOF {
		return nil
	}
	return err
}
{%- endif %}
{%- if case.reopens_copy() %}

// narrowMode takes from the owner what the copy needed, because it was opened again.
func narrowMode(file *os.File, source os.FileMode) error {
	status, err := file.Stat()
	if err != nil || source&0o600 == 0o600 {
		return err
	}
	return file.Chmod(status.Mode().Perm() & source)
}
{%- endif %}
