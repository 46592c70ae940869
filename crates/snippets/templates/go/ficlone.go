{% extends "go/base.go" %}
{% block fill %}

func fill(file, input *os.File, size int) error {
{%- include "go/prepare.go" %}
{%- if case.overwrites() %}
	// A clone may end within a block only at the file's end.
	if err := file.Truncate(int64(size)); err != nil {
		return err
	}
{%- endif %}
	// Both files share their blocks until one is written. EOPNOTSUPP, EXDEV or EINVAL: not on this filesystem.
	const ficloneRange = 0x4020940d
	all := struct {
		source                      int64
		offset, length, destination uint64
	}{source: int64(input.Fd()){% if case.checks_end() %}, length: uint64(size){% endif %}}
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, file.Fd(), ficloneRange, uintptr(unsafe.Pointer(&all)))
	if errno != 0 {
		return &os.PathError{Op: "ioctl", Path: file.Name(), Err: errno}
	}
{%- include "go/end.go" %}
}
{% endblock %}
