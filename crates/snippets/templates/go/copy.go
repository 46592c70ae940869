{% extends "go/base.go" %}
{% block fill %}

func fill(file, input *os.File, size int) error {
{%- include "go/prepare.go" %}
{%- include "go/run.go" %}
{%- if case.overwrites() %}
	// The file may have been longer.
	if err := file.Truncate(int64(size)); err != nil {
		return err
	}
{%- endif %}
{%- include "go/end.go" %}
}

// copyPart copies size bytes. Both files are at their position {% if case.takes_offset_go() %}from{% else %}of the part{% endif %}.
func copyPart(file, input *os.File{% if case.takes_offset_go() %}, from{% endif %}, size int) error {
{%- if case.chunk().is_none() %}
	chunkSize := max(size, 1) // all in one call
{%- endif %}
{%- if case.is_sequential() && !case.maps_source() && !case.keeps_holes() %}
	adviseSequential(input)
{%- endif %}
{%- if case.writeback().is_some() %}
	offset := int64(from)
	behind := writeBehind{offset, offset}
{%- endif %}
{%- if case.is(Method::MmapWrite) %}
	if size == 0 {
		return nil // a mapping cannot be empty
	}
	data, err := syscall.Mmap(int(input.Fd()), int64(from), size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return &os.PathError{Op: "mmap", Path: input.Name(), Err: err}
	}
	defer syscall.Munmap(data)
{%- if case.is_sequential() %}
	syscall.Madvise(data, syscall.MADV_WILLNEED)
	syscall.Madvise(data, syscall.MADV_SEQUENTIAL)
{%- endif %}
{%- if case.populates() %}
	const populateRead = 22 // MADV_POPULATE_READ: older kernels refuse, and fault the pages in one by one
	present, at := 0, 0
{%- endif %}
	for part := range slices.Chunk(data, chunkSize) {
{%- if case.populates() %}
		if at >= present {
			present = at + min(windowSize, size-at)
			syscall.Madvise(data[at:present], populateRead)
		}
		at += len(part)
{%- endif %}
		if {{ case.write_go("part") }}; err != nil {
			return err
		}
{%- if case.writeback().is_some() %}
		offset += int64(len(part))
		if err := behind.reach(file, offset); err != nil {
			return err
		}
{%- endif %}
	}
{%- else %}
{%- if case.is(Method::ReadWrite) %}
{%- if case.is_direct() %}
	buffer, err := alignedBuffer(min(chunkSize, size))
	if err != nil {
		return err
	}
	defer syscall.Munmap(buffer)
{%- else %}
	buffer := make([]byte, min(chunkSize, size))
{%- endif %}
{%- else if case.is(Method::Splice) %}
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return os.NewSyscallError("pipe2", err)
	}
	defer syscall.Close(pipe[0])
	defer syscall.Close(pipe[1])
	// It holds a chunk, up to the limit of ordinary users: see pipe(7).
	syscall.Syscall(syscall.SYS_FCNTL, uintptr(pipe[1]), syscall.F_SETPIPE_SZ, {{ case.pipe_c() }})
{%- endif %}
{%- if !case.is(Method::ReadWrite) %}
	fd, inputFd := {% if case.is(Method::CopyFileRange) %}file.Fd(), input.Fd(){% else %}int(file.Fd()), int(input.Fd()){% endif %}
{%- endif %}
	for size > 0 {
{%- if case.is(Method::ReadWrite) %}
		n, err := {{ case.read_go("buffer[:min(len(buffer), size)]") }}
		if err == io.EOF {
			return &os.PathError{Op: "read", Path: input.Name(), Err: io.ErrUnexpectedEOF}
		}
		if err != nil {
			return err
		}
		if {{ case.write_go("buffer[:n]") }}; err != nil {
			return err
		}
{%- else if case.is(Method::CopyFileRange) %}
		n, _, errno := syscall.Syscall6(sysCopyFileRange, inputFd, 0, fd, 0, uintptr(min(chunkSize, size)), 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return &os.PathError{Op: "copy_file_range", Path: file.Name(), Err: errno}
		}
{%- else %}
{%- if case.is(Method::Sendfile) %}
		n, err := syscall.Sendfile(fd, inputFd, nil, min(chunkSize, size))
{%- else %}
		n, err := syscall.Splice(inputFd, nil, pipe[1], nil, min(chunkSize, size), spliceMove|spliceMore)
{%- endif %}
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			return &os.PathError{Op: "{% if case.is(Method::Splice) %}splice{% else %}sendfile{% endif %}", Path: file.Name(), Err: err}
		}
{%- endif %}
{%- if !case.is(Method::ReadWrite) %}
		if n == 0 {
			// The source has become shorter.
			return &os.PathError{Op: "read", Path: input.Name(), Err: io.ErrUnexpectedEOF}
		}
{%- endif %}
{%- if case.is(Method::Splice) %}
		for left := int(n); left > 0; {
			out, err := syscall.Splice(pipe[0], nil, fd, nil, left, spliceMove|spliceMore)
			if err == syscall.EINTR {
				continue
			}
			if err != nil {
				return &os.PathError{Op: "splice", Path: file.Name(), Err: err}
			}
			if out == 0 {
				return io.ErrShortWrite
			}
			left -= int(out)
		}
{%- endif %}
		size -= {% if case.is(Method::Splice) || case.is(Method::CopyFileRange) %}int(n){% else %}n{% endif %}
{%- if case.writeback().is_some() %}
		offset += int64(n)
		if err := behind.reach(file, offset); err != nil {
			return err
		}
{%- endif %}
	}
{%- endif %}
	return nil
}
{%- if case.keeps_holes() %}

// copyData copies the data between two offsets. The holes of the source remain holes.
func copyData(file, input *os.File, from, until int) error {
{%- if case.is_sequential() %}
	adviseSequential(input)
{%- endif %}
	const seekData, seekHole = 3, 4 // SEEK_DATA, SEEK_HOLE
	for from < until {
		start, err := input.Seek(int64(from), seekData)
		if errors.Is(err, syscall.ENXIO) {
			// A hole up to the end, unless the source has become shorter.
			if end, err := input.Seek(0, io.SeekEnd); err != nil || end >= int64(until) {
				return err
			}
			return &os.PathError{Op: "read", Path: input.Name(), Err: io.ErrUnexpectedEOF}
		}
		if err != nil || start >= int64(until) {
			return err
		}
		end, err := input.Seek(start, seekHole)
		if err != nil {
			return err
		}
		for _, both := range []*os.File{input, file} {
			if _, err := both.Seek(start, io.SeekStart); err != nil {
				return err
			}
		}
		from = min(int(end), until)
		if err := copyPart(file, input, from-int(start)); err != nil {
			return err
		}
	}
	return nil
}
{%- endif %}
{% endblock %}
{% block helpers %}
{%- if case.is(Method::Splice) %}

const (
	spliceMove = 1 // SPLICE_F_MOVE
	spliceMore = 4 // SPLICE_F_MORE
)
{%- else if case.is(Method::CopyFileRange) %}

// Package syscall has no name for it.
var sysCopyFileRange = map[string]uintptr{"amd64": 326, "arm64": 285}[runtime.GOARCH]
{%- endif %}
{%- include "go/copy_helpers.go" %}
{% endblock %}
