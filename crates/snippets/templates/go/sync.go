{%- if case.calls_fsync_go() %}

// fsync is File.Sync, which would call it again after EINTR. After an error, the data may be lost although a second
// call succeeds.
func fsync(file *os.File) error {
	if err := syscall.Fsync(int(file.Fd())); err != nil {
		return &os.PathError{Op: "fsync", Path: file.Name(), Err: err}
	}
	return nil
}
{%- endif %}
{%- if case.calls_fdatasync_go() %}

// datasync is File.Sync without what is not needed to read the data. After an error it is not tried again.
func datasync(file *os.File) error {
	if err := syscall.Fdatasync(int(file.Fd())); err != nil {
		return &os.PathError{Op: "fdatasync", Path: file.Name(), Err: err}
	}
	return nil
}
{%- endif %}
{%- if case.syncs_map() %}

func msync(file *os.File, mapping []byte) error {
	_, _, errno := syscall.Syscall(syscall.SYS_MSYNC, uintptr(unsafe.Pointer(unsafe.SliceData(mapping))),
		uintptr(len(mapping)), syscall.MS_SYNC)
	if errno != 0 {
		return &os.PathError{Op: "msync", Path: file.Name(), Err: errno}
	}
	return nil
}
{%- endif %}
{%- if case.creates_name() && case.is_durable() %}

// syncDirectory makes the file's name durable.
func syncDirectory(path string) error {
	directory, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer directory.Close()
	err = directory.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.EBADF) {
		return fmt.Errorf("%w: the directory cannot be synced here", err)
	}
	return err
}
{%- endif %}
