{%- if case.writes_large_go() %}

// {{ case.large_name_go() }} leaves it to the kernel how much a call writes: those of os.File write 1 GiB at most.
func {{ case.large_name_go() }}(file *os.File, data []byte{{ case.write_parameters_go() }}) error {
	for len(data) > 0 {
		n, err := {% if case.is_positional() %}syscall.Pwrite(int(file.Fd()), data, offset){% else %}syscall.Write(int(file.Fd()), data){% endif %}
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "{% if case.is_positional() %}pwrite{% else %}write{% endif %}", Path: file.Name(), Err: err}
		}
		if n == 0 {
			return io.ErrShortWrite
		}
		data = data[n:]
{%- if case.is_positional() %}
		offset += int64(n)
{%- endif %}
	}
	return nil
}
{%- endif %}
