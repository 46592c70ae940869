{%- if case.is_direct() %}

// openFile opens a file for direct I/O, if its filesystem has that.
func openFile(path string, flags int{% if case.chooses_mode() %}, mode os.FileMode{% endif %}) (*os.File, error) {
	file, err := os.OpenFile(path, flags|syscall.O_DIRECT, {% if case.chooses_mode() %}mode{% else %}0o666{% endif %})
	if errors.Is(err, syscall.EINVAL) {
		// A filesystem without direct I/O refuses, but has made the file.
		return os.OpenFile(path, flags&^os.O_EXCL, {% if case.chooses_mode() %}mode{% else %}0o666{% endif %})
	}
	return file, err
}

// endDirect turns O_DIRECT off, for less than a block.
func endDirect(file *os.File) error {
	// F_SETFL leaves all other flags of ours as they are.
	_, _, errno := syscall.Syscall(syscall.SYS_FCNTL, file.Fd(), syscall.F_SETFL, 0)
	if errno != 0 {
		return &os.PathError{Op: "fcntl", Path: file.Name(), Err: errno}
	}
	return nil
}
{%- if !case.is(Method::MmapWrite) && (!case.is_in_huge_pages() || case.fills_with_zeros()) %}

// alignedBuffer returns pages outside of Go's heap, to be unmapped.
func alignedBuffer(size int) ([]byte, error) {
	buffer, err := syscall.Mmap(-1, 0, max(size, 1), syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	return buffer, os.NewSyscallError("mmap", err)
}
{%- endif %}
{%- endif %}
{%- if case.makes_huge_pages() %}

// hugePages returns huge pages, where the kernel has some, and the mapping around them, to be unmapped.
func hugePages(size int) (pages, mapping []byte, err error) {
	const huge = 2 << 20
	whole := (size + huge - 1) / huge * huge
	mapping, err = syscall.Mmap(-1, 0, whole+huge, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	syscall.Madvise(mapping, syscall.MADV_HUGEPAGE)
	start := -uintptr(unsafe.Pointer(&mapping[0])) % huge
	return mapping[start:][:size], mapping, nil
}
{%- endif %}
