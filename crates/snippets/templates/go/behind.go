{%- if let Some(window) = case.writeback() %}

// writeBehind starts write-back, this many bytes behind the writer.
type writeBehind struct{ started, ended int64 }

// reach starts the write-back of new data, and waits for the one before.
func (w *writeBehind) reach(file *os.File, at int64) error {
	const (
		behindSize = {{ window }}
		waitBefore = 1 // SYNC_FILE_RANGE_WAIT_BEFORE
		start      = 2 // SYNC_FILE_RANGE_WRITE
		waitAfter  = 4 // SYNC_FILE_RANGE_WAIT_AFTER
{%- if case.drops() %}
		notNeeded  = 4 // POSIX_FADV_DONTNEED
{%- endif %}
	)
	if at-w.started < behindSize {
		return nil
	}
	fd := int(file.Fd())
	err := syscall.SyncFileRange(fd, w.started, at-w.started, start)
	if length := w.started - w.ended; err == nil && length > 0 {
		err = syscall.SyncFileRange(fd, w.ended, length, waitBefore|start|waitAfter)
{%- if case.drops() %}
		syscall.Syscall6(syscall.SYS_FADVISE64, uintptr(fd), uintptr(w.ended), uintptr(length), notNeeded, 0, 0)
{%- endif %}
	}
	if err != nil {
		return &os.PathError{Op: "sync_file_range", Path: file.Name(), Err: err}
	}
	w.started, w.ended = at, w.started
	return nil
}
{%- endif %}
