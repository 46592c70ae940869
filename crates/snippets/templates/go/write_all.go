{%- if case.has_flags() %}

{% if case.is_dontcache() -%}
const rwfDontcache = 0x80 // Linux 6.14
{%- endif %}
{%- if case.is_rwf_dsync() %}

const rwfDsync = 0x2
{%- endif %}

// Package syscall has no name for it.
var sysPwritev2 = map[string]uintptr{"amd64": 328, "arm64": 287}[runtime.GOARCH]
{%- endif %}
{%- if case.is_vectored() %}

// writeAll writes all bytes of a vector, and changes it.
func writeAll(file *os.File, vector []syscall.Iovec{{ case.write_parameters_go() }}) error {
	for len(vector) > 0 {
{%- if case.has_flags() %}
		n, _, errno := syscall.Syscall6(sysPwritev2, file.Fd(), uintptr(unsafe.Pointer(&vector[0])),
			uintptr(len(vector)), {% if case.is_positional() %}uintptr(offset){% else %}^uintptr(0){% endif %}, 0, {% if case.is_dontcache() %}*flags{% else %}rwfDsync{% endif %})
{%- else if case.is_positional() %}
		n, _, errno := syscall.Syscall6(syscall.SYS_PWRITEV, file.Fd(), uintptr(unsafe.Pointer(&vector[0])),
			uintptr(len(vector)), uintptr(offset), 0, 0)
{%- else %}
		n, _, errno := syscall.Syscall(syscall.SYS_WRITEV, file.Fd(), uintptr(unsafe.Pointer(&vector[0])),
			uintptr(len(vector)))
{%- endif %}
{%- include "go/errno.go" %}
{%- if case.is_positional() %}
		offset += int64(n)
{%- endif %}
		// A call may write less.
		done := uint64(n)
		for len(vector) > 0 && done >= vector[0].Len {
			done -= vector[0].Len
			vector = vector[1:]
		}
		if done > 0 {
			vector[0].Base = (*byte)(unsafe.Add(unsafe.Pointer(vector[0].Base), done))
			vector[0].Len -= done
		}
	}
	return nil
}
{%- else if case.has_flags() %}

// writeAll repeats a call that writes less, or that a signal interrupts.
func writeAll(file *os.File, data []byte{{ case.write_parameters_go() }}) error {
	for len(data) > 0 {
		all := syscall.Iovec{Base: &data[0], Len: uint64(len(data))}
		n, _, errno := syscall.Syscall6(sysPwritev2, file.Fd(), uintptr(unsafe.Pointer(&all)), 1,
			uintptr(offset), 0, {% if case.is_dontcache() %}*flags{% else %}rwfDsync{% endif %})
{%- include "go/errno.go" %}
		data = data[n:]
		offset += int64(n)
	}
	return nil
}
{%- else %}
{%- include "go/write_large.go" %}
{%- endif %}
