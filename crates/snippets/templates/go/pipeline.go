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

// filled is a buffer with what was read into it.
type filled struct {
	buffer []byte
	length int
	err    error
}

// readPart fills the buffers that it is given, until all is read, a call fails, or no more come.
func readPart(input *os.File, size int, empty <-chan []byte, full chan<- filled) {
	defer close(full)
	for size > 0 {
		buffer, isThere := <-empty
		if !isThere {
			return
		}
		n, err := {{ case.read_go("buffer[:min(len(buffer), size)]") }}
		if err == io.EOF {
			err = &os.PathError{Op: "read", Path: input.Name(), Err: io.ErrUnexpectedEOF}
		}
		full <- filled{buffer, n, err}
		if err != nil {
			return
		}
		size -= n
	}
}

// copyPart copies size bytes. Both files are at their position {% if case.takes_offset_go() %}from{% else %}of the part{% endif %}.
func copyPart(file, input *os.File{% if case.takes_offset_go() %}, from{% endif %}, size int) error {
{%- if case.chunk().is_none() %}
	chunkSize := size // all in one call
{%- endif %}
{%- if case.is_sequential() %}
	adviseSequential(input)
{%- endif %}
{%- if case.is_direct() %}
	bufferSize := max(min(chunkSize, size), 1)
	bufferSize = (bufferSize + blockSize - 1) / blockSize * blockSize
	buffers, err := alignedBuffer(depth * bufferSize)
	if err != nil {
		return err
	}
	defer syscall.Munmap(buffers)
{%- endif %}
	empty, full := make(chan []byte, depth), make(chan filled, depth)
{%- if case.is_direct() %}
	for i := range depth {
		empty <- buffers[i*bufferSize:][:min(chunkSize, bufferSize)]
	}
{%- else %}
	for range depth {
		empty <- make([]byte, min(chunkSize, size))
	}
{%- endif %}
	go readPart(input, size, empty, full)
	// After an error, too, no buffer is left in use.
	defer func() {
		close(empty)
		for range full {
		}
	}()
{%- if case.writeback().is_some() %}
	offset := int64(from)
	behind := writeBehind{offset, offset}
{%- endif %}
	for part := range full {
		if part.err != nil {
			return part.err
		}
		if {{ case.write_go("part.buffer[:part.length]") }}; err != nil {
			return err
		}
		empty <- part.buffer
{%- if case.writeback().is_some() %}
		offset += int64(part.length)
		if err := behind.reach(file, offset); err != nil {
			return err
		}
{%- endif %}
	}
	return nil
}
{% endblock %}
{% block helpers %}
{%- include "go/copy_helpers.go" %}
{% endblock %}
