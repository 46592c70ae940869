{%- if !case.copies() && !case.options.is_stream %}

// contentOf reads a file into memory for O_DIRECT and huge pages.
func contentOf(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	status, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !status.Mode().IsRegular() {
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	size := int(status.Size())
	// A byte more shows a file that is longer than its status, as in /proc.
{%- if case.is_in_huge_pages() %}
	data, _, err := hugePages(size + 1)
	if err != nil {
		return nil, err
	}
{%- else %}
	const huge = 2 << 20
	memory, err := syscall.Mmap(-1, 0, size+1+huge, syscall.PROT_READ|syscall.PROT_WRITE,
		syscall.MAP_PRIVATE|syscall.MAP_ANON)
	if err != nil {
		return nil, os.NewSyscallError("mmap", err)
	}
	skip := -uintptr(unsafe.Pointer(&memory[0])) % huge
	data := memory[skip:][:size+1]
{%- endif %}
	n, err := io.ReadFull(file, data)
	if err != io.EOF && err != io.ErrUnexpectedEOF && err != nil {
		return nil, err
	}
	if n != size {
		return nil, &os.PathError{Op: "read", Path: path, Err: errors.New("it has another length than its status")}
	}
	return data[:size], nil
}
{%- endif %}

{%- if case.writes_set() %}
{%- if let Some((least, most)) = case.file_sizes() %}

// sizeOfFile has the case's sizes of the files: evenly spread over the logarithm.
func sizeOfFile(number int) int {
	size, factor := {{ least }}.0, {{ most }}.0/{{ least }}
	for ; number > 0; number >>= 1 {
		factor = math.Sqrt(factor)
		if number%2 == 1 {
			size *= factor
		}
	}
	return int(size)
}
{%- endif %}
{%- endif %}

func run(source, target string) error {
{%- if case.options.is_stream %}
	input, err := os.Open(source)
	if err != nil {
		return err
	}
	defer input.Close()
{%- if case.expects() || case.meets_source() %}
	status, err := input.Stat()
	if err != nil {
		return err
	}
{%- endif %}
{%- if case.meets_source() %}
	if isSource(target, status) {
		return &os.PathError{Op: "write", Path: target, Err: errors.New("the same file as " + source)}
	}
{%- endif %}
{%- else if !case.copies() %}
	data, err := contentOf(source)
	if err != nil {
		return err
	}
{%- endif %}
{%- if case.writes_set() %}
{%- if let Some(size) = case.file_size() %}
	const fileSize = {{ size }}
{%- endif %}
	var files []FileData
	for rest := data; len(rest) > 0; {
		size := min(len(rest), {% if case.file_size().is_some() %}fileSize{% else %}sizeOfFile(len(files)){% endif %})
		files = append(files, FileData{fmt.Sprintf("writebench%07d", len(files)), rest[:size]})
		rest = rest[size:]
	}
{%- endif %}
	start := time.Now()
	if err := {% if case.copies() %}CopyFile(source, target)
{%- else if case.options.is_append %}appendSource(target, input{% if case.expects() %}, status.Size(){% endif %})
{%- else if case.options.is_stream %}WriteStream(target, input{% if case.expects() %}, status.Size(){% endif %})
{%- else if case.writes_set() %}WriteFiles(target, files)
{%- else %}WriteFile(target, data){% endif %}; err != nil {
		return err
	}
	took := time.Since(start)
	// For `writebench run --command`: the time without the start and the reading of the source.
	if fd, err := strconv.Atoi(os.Getenv("WRITEBENCH_PHASES_FD")); err == nil {
		fmt.Fprintf(os.NewFile(uintptr(fd), "phases"), "write %d\n", took.Nanoseconds())
	}
	return nil
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintf(os.Stderr, "usage: %s SOURCE TARGET\n", os.Args[0])
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
