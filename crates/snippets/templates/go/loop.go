{%- if case.is_single_go() %}
	if {{ case.write_go("data") }}; err != nil {
		return err
	}
{%- else %}
{%- if case.chunk().is_none() %}
	chunkSize := max(len(data), 1) // all in one call
{%- endif %}
{%- if case.options.is_stream && case.is_in_huge_pages() %}
	buffer, mapping, err := hugePages({{ case.buffers_go() }})
	if err != nil {
		return err
	}
	defer syscall.Munmap(mapping)
{%- else if case.options.is_stream && case.is_direct() %}
	buffer, err := alignedBuffer({{ case.buffers_go() }})
	if err != nil {
		return err
	}
	defer syscall.Munmap(buffer)
{%- else if case.options.is_stream %}
	buffer := make([]byte, {% if case.has_writers() %}depth*chunkSize{% else %}chunkSize{% endif %})
{%- else if case.is_direct() %}
	var buffer []byte
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%blockSize != 0 {
{%- if case.is_in_huge_pages() %}
		var mapping []byte
{%- endif %}
		var err error
		if buffer, {% if case.is_in_huge_pages() %}mapping, err = hugePages{% else %}err = alignedBuffer{% endif %}(min({% if case.is_vectored() %}vectorSize*chunkSize{% else %}chunkSize{% endif %}, len(data))); err != nil {
			return err
		}
		defer syscall.Munmap({% if case.is_in_huge_pages() %}mapping{% else %}buffer{% endif %})
	}
{%- endif %}
{%- if case.is_dontcache() %}
	flags := uintptr(rwfDontcache{% if case.is_rwf_dsync() %} | rwfDsync{% endif %})
{%- endif %}
{%- if case.reserves_ahead() %}
	var reserved int64
{%- endif %}
{%- if case.counts_chunks_go() %}
	chunks := 0
{%- endif %}
{%- if case.has_writers() %}
{%- include "go/loop_writers.go" %}
{%- else %}
{%- if case.writeback().is_some() %}
	behind := writeBehind{offset, offset}
{%- endif %}
{%- if case.is_vectored() %}
	vector := make([]syscall.Iovec, 0, vectorSize)
	for part := range slices.Chunk(data, vectorSize*chunkSize) {
{%- else if case.options.is_stream %}
	for isEnd := false; !isEnd; {
		part, err := nextChunk(source, buffer)
		if err != nil {
			return err
		}
		isEnd = len(part) < len(buffer)
		if len(part) == 0 {
			break
		}
{%- if case.reserves_ahead() %}
		if err := reserveAhead(file, &reserved, offset+int64(len(part))); err != nil {
			return err
		}
{%- endif %}
{%- else %}
	for part := range slices.Chunk(data, chunkSize) {
{%- endif %}
{%- if case.is_direct() && !case.options.is_stream %}
		if buffer != nil {
			part = buffer[:copy(buffer, part)]
		}
{%- endif %}
{%- if case.is_vectored() %}
		vector = vector[:0]
		for chunk := range slices.Chunk(part, chunkSize) {
			vector = append(vector, syscall.Iovec{Base: &chunk[0], Len: uint64(len(chunk))})
		}
{%- endif %}
		if {% if case.is_vectored() %}{{ case.write_go("vector") }}{% else %}{{ case.write_go("part") }}{% endif %}; err != nil {
			return err
		}
{%- if case.takes_offset_go() %}
		offset += int64(len(part))
{%- endif %}
{%- if let Some(every) = case.sync_every() %}
{%- if case.counts_chunks_go() %}
		if chunks += {% if case.is_vectored() %}len(vector){% else %}1{% endif %}; chunks >= {{ every }} {
			chunks = 0
			if err := {{ case.sync_go() }}; err != nil {
				return err
			}
		}
{%- else %}
		if err := {{ case.sync_go() }}; err != nil {
			return err
		}
{%- endif %}
{%- endif %}
{%- if case.writeback().is_some() %}
		if err := behind.reach(file, offset); err != nil {
			return err
		}
{%- endif %}
	}
{%- endif %}
{%- if case.reserves_ahead() %}
{%- if case.counts_chunks_go() %}
	if chunks > 0 {
		if err := {{ case.sync_go() }}; err != nil {
			return err
		}
	}
{%- endif %}
	// The file ends with the data.
	if err := file.Truncate(offset); err != nil {
		return err
	}
{%- if case.is_durable() && !case.syncs_at_end() %}
	if err := datasync(file); err != nil {
		return err
	}
{%- endif %}
{%- endif %}
{%- if case.options.is_stream && case.expects() %}
	// The data may have ended early.
	if offset < expected {
{%- if case.is_durable() %}
		if err := file.Truncate(offset); err != nil {
			return err
		}
{%- if !case.syncs_at_end() %}
		return {{ case.sync_go() }}
{%- endif %}
{%- else %}
		return file.Truncate(offset)
{%- endif %}
	}
{%- endif %}
{%- if case.counts_chunks_go() && !case.reserves_ahead() %}
	if chunks > 0 {
		return {{ case.sync_go() }}
	}
{%- endif %}
{%- endif %}
