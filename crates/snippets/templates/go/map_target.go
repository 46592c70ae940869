{%- if case.maps_huge() %}

// mapFile maps a part of the file at an address where huge pages fit, as far from a multiple of 2 MiB as its offset.
// Both the mapping and the memory around it end when the latter is unmapped.
func mapFile(file *os.File, from, size int) (mapping, around []byte, err error) {
	const huge = 2 << 20
	around, err = syscall.Mmap(-1, 0, size+2*huge, syscall.PROT_NONE, syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, nil, os.NewSyscallError("mmap", err)
	}
	skip := (uintptr(from) - uintptr(unsafe.Pointer(unsafe.SliceData(around)))) % huge
	mapping = around[skip:][:size]
	_, _, errno := syscall.Syscall6(syscall.SYS_MMAP, uintptr(unsafe.Pointer(unsafe.SliceData(mapping))),
		uintptr(size), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED|syscall.MAP_FIXED,
		file.Fd(), uintptr(from))
	if errno != 0 {
		syscall.Munmap(around)
		return nil, nil, &os.PathError{Op: "mmap", Path: file.Name(), Err: errno}
	}
{%- if !case.huge_is_collapse() %}
	syscall.Madvise(mapping, syscall.MADV_HUGEPAGE) // a kernel without huge pages refuses
{%- endif %}
	return mapping, around, nil
}
{%- else %}

func mapFile(file *os.File, from, size int) ([]byte, error) {
	mapping, err := syscall.Mmap(int(file.Fd()), int64(from), size, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_SHARED)
	if err != nil {
		return nil, &os.PathError{Op: "mmap", Path: file.Name(), Err: err}
	}
	return mapping, nil
}
{%- endif %}
{%- if case.prepares_windows() %}

// prepareWindow makes the pages present by a few calls instead of a fault for each. The kernel may refuse that.
func prepareWindow(window []byte) error {
{%- if case.huge_is_collapse() %}
	const collapse = 25 // MADV_COLLAPSE, Linux 6.1
	const huge = 2 << 20
	whole := window[:len(window)/huge*huge]
	for at := 0; at < len(whole); at += huge {
		whole[at] = 0 // a page must be there before its huge page is made
	}
	if len(whole) > 0 {
		syscall.Madvise(whole, collapse)
	}
{%- endif %}
{%- if case.populates() %}
	const populateWrite = 23 // MADV_POPULATE_WRITE, Linux 5.14
	for {
		err := syscall.Madvise(window, populateWrite)
		switch err {
		case nil, syscall.EINVAL:
			return nil
		case syscall.EINTR:
			continue
		}
		return os.NewSyscallError("madvise", err) // EFAULT stands for SIGBUS: the disk is full
	}
{%- else %}
	return nil
{%- endif %}
}
{%- endif %}
