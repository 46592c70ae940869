{%- if way.is_single_go() %}
	if {{ way.write_go("data") }}; err != nil {
		return err
	}
{%- else %}
{%- if way.chunk().is_none() %}
	chunkSize := max(len(data), 1) // all in one call
{%- endif %}
{%- if way.streams() && way.is_in_huge_pages() %}
	buffer, mapping, err := hugePages(chunkSize)
	if err != nil {
		return err
	}
	defer syscall.Munmap(mapping)
{%- else if way.streams() && way.is_direct() %}
	buffer, err := alignedBuffer(chunkSize)
	if err != nil {
		return err
	}
	defer syscall.Munmap(buffer)
{%- else if way.streams() %}
	buffer := make([]byte, chunkSize)
{%- else if way.is_direct() %}
	var buffer []byte
	if uintptr(unsafe.Pointer(unsafe.SliceData(data)))%blockSize != 0 {
{%- if way.is_in_huge_pages() %}
		var mapping []byte
{%- endif %}
		var err error
		if buffer, {% if way.is_in_huge_pages() %}mapping, err = hugePages{% else %}err = alignedBuffer{% endif %}(min({% if way.is_vectored() %}vectorSize*chunkSize{% else %}chunkSize{% endif %}, len(data))); err != nil {
			return err
		}
		defer syscall.Munmap({% if way.is_in_huge_pages() %}mapping{% else %}buffer{% endif %})
	}
{%- endif %}
{%- if way.is_dontcache() %}
	flags := uintptr(rwfDontcache{% if way.is_rwf_dsync() %} | rwfDsync{% endif %})
{%- endif %}
{%- if way.counts_chunks_go() %}
	chunks := 0
{%- endif %}
{%- if way.writeback().is_some() %}
	behind := writeBehind{offset, offset}
{%- endif %}
{%- if way.is_vectored() %}
	vector := make([]syscall.Iovec, 0, vectorSize)
	for part := range slices.Chunk(data, vectorSize*chunkSize) {
{%- else if way.streams() %}
	for isEnd := false; !isEnd; {
		part, err := nextChunk(source, buffer)
		if err != nil {
			return err
		}
		isEnd = len(part) < len(buffer)
		if len(part) == 0 {
			break
		}
{%- else %}
	for part := range slices.Chunk(data, chunkSize) {
{%- endif %}
{%- if way.is_direct() && !way.streams() %}
		if buffer != nil {
			part = buffer[:copy(buffer, part)]
		}
{%- endif %}
{%- if way.is_vectored() %}
		vector = vector[:0]
		for chunk := range slices.Chunk(part, chunkSize) {
			vector = append(vector, syscall.Iovec{Base: &chunk[0], Len: uint64(len(chunk))})
		}
{%- endif %}
		if {% if way.is_vectored() %}{{ way.write_go("vector") }}{% else %}{{ way.write_go("part") }}{% endif %}; err != nil {
			return err
		}
{%- if way.takes_offset_go() %}
		offset += int64(len(part))
{%- endif %}
{%- if let Some(every) = way.sync_every() %}
{%- if way.counts_chunks_go() %}
		if chunks += {% if way.is_vectored() %}len(vector){% else %}1{% endif %}; chunks >= {{ every }} {
			chunks = 0
			if err := {{ way.sync_go() }}; err != nil {
				return err
			}
		}
{%- else %}
		if err := {{ way.sync_go() }}; err != nil {
			return err
		}
{%- endif %}
{%- endif %}
{%- if way.writeback().is_some() %}
		if err := behind.reach(file, offset); err != nil {
			return err
		}
{%- endif %}
	}
{%- if way.streams() && way.expects() %}
	// The data may have ended early.
	if offset < expected {
{%- if way.is_durable() %}
		if err := file.Truncate(offset); err != nil {
			return err
		}
{%- if !way.syncs_at_end() %}
		return {{ way.sync_go() }}
{%- endif %}
{%- else %}
		return file.Truncate(offset)
{%- endif %}
	}
{%- endif %}
{%- if way.counts_chunks_go() %}
	if chunks > 0 {
		return {{ way.sync_go() }}
	}
{%- endif %}
{%- endif %}
