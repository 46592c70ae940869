{%- if case.reads_large_go() %}

// read leaves it to the kernel how much a call reads: that of os.File reads 1 GiB at most.
func read(input *os.File, buffer []byte) (int, error) {
	for {
		n, err := syscall.Read(int(input.Fd()), buffer)
		switch {
		case err == syscall.EINTR:
			continue
		case err != nil:
			return 0, &os.PathError{Op: "read", Path: input.Name(), Err: err}
		case n == 0:
			return 0, io.EOF
		}
		return n, nil
	}
}
{%- endif %}
{%- include "go/write_rest.go" %}
{%- if !case.is_direct() || case.writes_large_go() %}
{%- include "go/write_large.go" %}
{%- endif %}
{%- if case.is_sequential() && !case.maps_source() %}

// adviseSequential tells the kernel that the file is read from its beginning to its end.
func adviseSequential(input *os.File) {
	const sequential, willNeed = 2, 3 // POSIX_FADV_SEQUENTIAL, POSIX_FADV_WILLNEED
	syscall.Syscall6(syscall.SYS_FADVISE64, input.Fd(), 0, 0, willNeed, 0, 0)
	syscall.Syscall6(syscall.SYS_FADVISE64, input.Fd(), 0, 0, sequential, 0, 0)
}
{%- endif %}
{%- if case.threads() > 1 %}
{%- include "go/parts.go" %}
{%- endif %}
{%- include "go/behind.go" %}
