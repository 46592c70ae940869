{#- The checks after a vectored call. #}
		if errno == syscall.EINTR {
			continue
		}
{%- if case.is_dontcache() %}
		if errno == syscall.EOPNOTSUPP && *flags&rwfDontcache != 0 {
			*flags &^= rwfDontcache // unsupported here: the page cache keeps the data
			continue
		}
{%- endif %}
		if errno != 0 {
			return &os.PathError{Op: "{% if case.has_flags() %}pwritev2{% else if case.is_positional() %}pwritev{% else %}writev{% endif %}", Path: file.Name(), Err: errno}
		}
		if n == 0 {
			return io.ErrShortWrite
		}
