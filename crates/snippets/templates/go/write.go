{% extends "go/base.go" %}
{% block fill %}

func fill(file *os.File, {% if case.options.is_stream %}source io.Reader{% if case.expects() %}, expected int64{% endif %}{% else %}data []byte{% endif %}) error {
{%- include "go/prepare.go" %}
{%- if case.is_direct() && !case.options.is_stream %}
	whole := len(data) / blockSize * blockSize
{%- include "go/run.go" %}
	// The rest is less than a block: through the page cache.
	if whole < len(data) {
		if err := endDirect(file); err != nil {
			return err
		}
		if _, err := file.WriteAt(data[whole:], int64(whole)); err != nil {
			return err
		}
{%- if case.sync_every().is_some() || case.is_rwf_dsync() %}
		return {% if case.calls_fdatasync_go() %}datasync(file){% else %}fsync(file){% endif %}
{%- endif %}
	}
{%- else if case.has_part_go() && !case.options.is_stream %}
{%- include "go/run.go" %}
{%- else %}
{%- if case.takes_offset_go() && !case.is_single_go() %}
	var offset int64
{%- endif %}
{%- include "go/loop.go" %}
{%- endif %}
{%- include "go/end.go" %}
}
{%- if case.has_writers() %}

// A chunk is a full buffer and its place in the file.
type chunk struct {
	data   []byte
	offset int64
}

// writeChunks writes chunks until there are no more, or one fails.
func writeChunks(file *os.File, filled <-chan chunk, free chan<- []byte) error {
{%- if case.is_dontcache() %}
	flags := uintptr(rwfDontcache{% if case.is_rwf_dsync() %} | rwfDsync{% endif %})
{%- endif %}
	for next := range filled {
		part, offset := next.data, next.offset
		if {{ case.write_go("part") }}; err != nil {
			return err
		}
		free <- part
	}
	return nil
}

// produce hands over full buffers until the source ends or a write fails. It returns the last bytes, which
// fill no buffer.
func produce(
	source io.Reader, offset *int64, filled chan<- chunk, free <-chan []byte, failed chan error,
) ([]byte, error) {
	for {
		select {
		case err := <-failed:
			return nil, err
		case buffer := <-free:
			part, err := nextChunk(source, buffer)
			if err != nil || len(part) < len(buffer) {
				return part, err
			}
			filled <- chunk{part, *offset}
			*offset += int64(len(part))
		}
	}
}
{%- endif %}
{%- if case.options.is_stream %}

// nextChunk fills the buffer with the next bytes of the source; there are fewer only at its end. It is not
// io.ReadFull, which has one error for an end within the buffer and for a source that was cut off itself.
func nextChunk(source io.Reader, buffer []byte) ([]byte, error) {
	length := 0
	for length < len(buffer) {
		n, err := source.Read(buffer[length:])
		length += n
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	return buffer[:length], nil
}
{%- else if case.has_part_go() %}

// writePart writes data {% if case.is_positional() %}at an offset{% else %}at the file's position{% endif %}.
func writePart(file *os.File, data []byte{% if case.takes_offset_go() %}, offset int64{% endif %}) error {
{%- include "go/loop.go" %}
	return nil
}
{%- endif %}
{% endblock %}
{% block helpers %}
{%- include "go/write_all.go" %}
{%- include "go/write_rest.go" %}
{%- if case.threads() > 1 %}
{%- include "go/parts.go" %}
{%- endif %}
{%- include "go/behind.go" %}
{% endblock %}
