
	free, filled := make(chan []byte, depth), make(chan chunk, depth)
	for part := range slices.Chunk(buffer, chunkSize) {
		free <- part
	}
	failed := make(chan error, writers)
	var all sync.WaitGroup
	for range writers {
		all.Add(1)
		go func() {
			defer all.Done()
			if err := writeChunks(file, filled, free); err != nil {
				failed <- err
			}
		}()
	}
	last, err := produce(source, &offset, filled, free, failed)
	close(filled)
	all.Wait()
	if err == nil && len(failed) > 0 {
		err = <-failed
	}
	if err != nil {
		return err
	}
	if part := last; len(part) > 0 {
		if {{ case.write_go("part") }}; err != nil {
			return err
		}
	}
{%- if case.expects() %}
	offset += int64(len(last))
{%- endif %}
