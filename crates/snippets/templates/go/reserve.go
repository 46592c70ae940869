{%- if case.reserves() && !case.sets_length() %}

// reserve gives the file {% if case.writes_zeroes() %}blocks that the device zeroes: overwriting them changes no metadata{% else %}its blocks: a full disk fails before any write{% endif %}.
func reserve(file *os.File, size int) error {
{%- let has_mode = !(case.choices().prepare == Prepare::Fallocate || case.choices().prepare == Prepare::PosixFallocate) %}
{%- if case.choices().prepare == Prepare::FallocateKeepSize %}
	const mode = 0x1 // FALLOC_FL_KEEP_SIZE
{%- else if case.choices().prepare == Prepare::FallocateZeroRange %}
	const mode = 0x10 // FALLOC_FL_ZERO_RANGE
{%- else if case.writes_zeroes() %}
	const mode = 0x80 // FALLOC_FL_WRITE_ZEROES, Linux 6.17
{%- endif %}
	if size == 0 {
		return nil // the kernel refuses that
	}
	for {
		err := syscall.Fallocate(int(file.Fd()), {% if has_mode %}mode{% else %}0{% endif %}, 0, int64(size))
		switch err {
		case nil:
			return nil
		case syscall.EINTR:
			continue
		case syscall.EOPNOTSUPP:
{%- if case.choices().prepare == Prepare::PosixFallocate %}
			return touch(file, size)
{%- else if case.maps_target() %}
			return file.Truncate(int64(size)) // {{ case.cannot_reserve() }}
{%- else %}
			return nil // {{ case.cannot_reserve() }}
{%- endif %}
		}
		return &os.PathError{Op: "fallocate", Path: file.Name(), Err: err}
	}
}
{%- if case.choices().prepare == Prepare::PosixFallocate %}

// touch writes a byte to each block where the filesystem has no call for that, as posix_fallocate(3) does.
func touch(file *os.File, size int) error {
	var filesystem syscall.Statfs_t
	if err := syscall.Fstatfs(int(file.Fd()), &filesystem); err != nil {
		return &os.PathError{Op: "fstatfs", Path: file.Name(), Err: err}
	}
	step := int(min(max(filesystem.Bsize, 512), 4096))
{%- if case.is_direct() %}
	buffered, err := os.OpenFile(file.Name(), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer buffered.Close()
	file = buffered
{%- endif %}
	for at := (size - 1) % step; at < size; at += step {
		if _, err := file.WriteAt([]byte{0}, int64(at)); err != nil {
			return err
		}
	}
	return nil
}
{%- endif %}
{%- endif %}
{%- if case.reserves_ahead() %}

// reserveAhead reserves blocks before a write up to end, many at a time: the file's length is not known yet.
func reserveAhead(file *os.File, reserved *int64, end int64) error {
	for *reserved >= 0 && *reserved < end {
		more := max(64<<20, end-*reserved)
		err := syscall.Fallocate(int(file.Fd()), 0, *reserved, more)
		switch err {
		case nil:
			*reserved += more
		case syscall.EINTR:
		case syscall.EOPNOTSUPP:
			*reserved = -1 // this filesystem cannot reserve blocks
		default:
			return &os.PathError{Op: "fallocate", Path: file.Name(), Err: err}
		}
	}
	return nil
}
{%- endif %}
{%- if case.fills_with_zeros() %}

// fillWithZeros writes zeros: overwriting written blocks changes no metadata.
func fillWithZeros(file *os.File, size int) error {
{%- if case.is_direct() %}
	size -= size % blockSize // the rest is written through the page cache
	zeros, err := alignedBuffer(64 << 10)
	if err != nil {
		return err
	}
	defer syscall.Munmap(zeros)
{%- else %}
	zeros := make([]byte, 64<<10)
{%- endif %}
	for at := 0; at < size; at += len(zeros) {
		if _, err := file.WriteAt(zeros[:min(len(zeros), size-at)], int64(at)); err != nil {
			return err
		}
	}
{%- if case.is_dontcache() %}
	if err := fsync(file); err != nil {
		return err
	}
	// RWF_DONTCACHE would keep pages of the zeros.
	const notNeeded = 4 // POSIX_FADV_DONTNEED
	syscall.Syscall6(syscall.SYS_FADVISE64, file.Fd(), 0, 0, notNeeded, 0, 0)
	return nil
{%- else %}
	return fsync(file)
{%- endif %}
}
{%- endif %}
