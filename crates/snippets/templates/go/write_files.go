// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//
{%- for line in case.errors("An error names the failed call and its file.") %}
// {{ line }}
{%- endfor %}
// To build it: go build FILE.go, with Go 1.23 or later.

BUILD

package {% if case.options.is_program %}main{% else %}fileio{% endif %}

IMPORTS

const chunkSize = {% if let Some(chunk) = case.chunk() %}{{ chunk }} // bytes of a call{% else %}math.MaxInt // all in one call{% endif %}
{%- if case.threads() > 1 %}

const threads = {{ case.threads() }}
{%- endif %}

// FileData is the name of a file in the directory, and its content.
type FileData struct {
	Name string
	Data []byte
}

{% if !case.writes_set() -%}
// WriteFile writes data to the file at path.
func WriteFile(path string, data []byte) error {
	return writeFiles(filepath.Dir(path), []FileData{ {{- "{" }}filepath.Base(path), data}})
}

func writeFiles(path string, files []FileData) error {
{%- else -%}
// WriteFiles writes files to the directory at path.
func WriteFiles(path string, files []FileData) error {
{%- endif %}
	directory, err := openAt(atCwd, path, syscall.O_RDONLY|syscall.O_DIRECTORY, 0)
	if err != nil {
		return &os.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(directory)
{%- if case.has_other_name() %}
	suffix := fmt.Sprintf(".%d.%d.tmp", os.Getpid(), time.Now().UnixNano())
{%- endif %}
	err = {% if case.threads() > 1 %}inParts{% else %}writePart{% endif %}(directory, files{{ case.other("suffix") }})
{%- if case.syncs_filesystem() %}
	if err == nil {
		if _, _, errno := syscall.Syscall(sysSyncfs, uintptr(directory), 0, 0); errno != 0 {
			err = &os.PathError{Op: "syncfs", Path: path, Err: errno}
		}
	}
{%- endif %}
{%- if case.has_other_name() && case.syncs_afterwards() %}
	// No file gets its name before its data is durable.
	for i := 0; i < len(files) && err == nil; i++ {
		err = giveName(directory, files[i].Name+suffix, files[i].Name)
	}
	for i := 0; i < len(files) && err != nil; i++ {
		syscall.Unlinkat(directory, files[i].Name+suffix)
	}
{%- endif %}
{%- if case.is_durable() %}
	// Names are durable with their directory.
	if err == nil {
		switch err := syscall.Fsync(directory); err {
		case nil:
		case syscall.EINVAL, syscall.EBADF:
			return &os.PathError{Op: "fsync: the directory cannot be synced here:", Path: path, Err: err}
		default:
			return &os.PathError{Op: "fsync", Path: path, Err: err}
		}
	}
{%- endif %}
	return err
}
{%- if case.threads() > 1 %}

func inParts(directory int, files []FileData{{ case.other("suffix string") }}) error {
	var group sync.WaitGroup
	errs := make([]error, threads)
	for i := range threads {
		part := files[len(files)*i/threads : len(files)*(i+1)/threads]
		group.Add(1)
		go func() {
			defer group.Done()
			errs[i] = writePart(directory, part{{ case.other("suffix") }})
		}()
	}
	group.Wait()
	return errors.Join(errs...)
}
{%- endif %}

func writePart(directory int, files []FileData{{ case.other("suffix string") }}) error {
	for _, file := range files {
		if err := writeOne(directory, file{{ case.other("suffix") }}); err != nil {
			return err
		}
	}
{%- if case.syncs_batch() %}
	for _, file := range files {
		if err := syncOne(directory, file{{ case.other("suffix") }}); err != nil {
			return err
		}
	}
{%- endif %}
	return nil
}
{%- if case.syncs_batch() %}

func syncOne(directory int, file FileData{{ case.other("suffix string") }}) error {
	failed := func(call string, err error) error {
		return &os.PathError{Op: call, Path: file.Name, Err: err}
	}
	fd, err := openAt(directory, file.Name{% if case.has_other_name() %}+suffix{% endif %}, syscall.O_RDONLY, 0)
	if err != nil {
		return failed("open", err)
	}
	// After an error, the data may be lost although a second call succeeds: write it again.
	if err := syscall.Fsync(fd); err != nil {
		syscall.Close(fd)
		return failed("fsync", err)
	}
	if err := syscall.Close(fd); err != nil && err != syscall.EINTR {
		return failed("close", err)
	}
	return nil
}
{%- endif %}

func writeOne(directory int, file FileData{{ case.other("suffix string") }}) error {
	name := file.Name
{%- if case.has_other_name() %}
	other := name + suffix
{%- endif %}
{%- if case.options.is_atomic %}
	mode := uint32(0o666)
	var old syscall.Stat_t
	replaces := statAt(directory, name, &old) == nil
	if replaces {
		mode = old.Mode & 0o777
	}
{%- endif %}
	failed := func(call string, err error) error {
		return &os.PathError{Op: call, Path: name, Err: err}
	}
	fd, err := openAt(directory, {% if case.is_tmpfile() %}"."{% else %}{{ case.written("other", "name") }}{% endif %}, {{ case.set_flags("syscall.").replace(" | ", "|").replace("syscall.O_TMPFILE", "tmpfile") }}, {% if case.options.is_atomic %}mode{% else %}0o666{% endif %})
	if err != nil {
		return failed("open", err)
	}
{%- if case.options.is_atomic %}
	if replaces && old.Mode&syscall.S_IFMT != syscall.S_IFREG {
		err = failed("replace", syscall.EINVAL) // a device or a pipe would become a file
	} else if replaces {
		if syscall.Fchown(fd, -1, int(old.Gid)) == nil {
			syscall.Fchown(fd, int(old.Uid), -1)
		}
		if err = syscall.Fchmod(fd, mode); err != nil {
			err = failed("fchmod", err)
		}
	}
	if err == nil {
		if err = writeAll(fd, file.Data); err != nil {
			err = failed("write", err)
		}
	}
{%- else %}
	if err = writeAll(fd, file.Data); err != nil {
		err = failed("write", err)
	}
{%- endif %}
{%- if case.syncs_each() %}
	if err == nil {
		// After an error, the data may be lost although a second call succeeds: write it again.
		if err = syscall.Fsync(fd); err != nil {
			err = failed("fsync", err)
		}
	}
{%- endif %}
{%- if case.starts_write_back() %}
	if err == nil {
		const start = 2 // SYNC_FILE_RANGE_WRITE
		if err = syscall.SyncFileRange(fd, 0, 0, start); err != nil {
			err = failed("sync_file_range", err)
		}
	}
{%- endif %}
{%- if case.is_tmpfile() %}
	if err == nil {
		// The descriptor's path needs no capability.
		from := fmt.Sprintf("/proc/self/fd/%d", fd)
		if err = twoNames(syscall.SYS_LINKAT, atCwd, from, directory, {{ case.written("other", "name") }}, followLink); err != nil {
			err = failed("linkat", err)
		}
	}
{%- endif %}
	// A late error of the filesystem, such as NFS, is one of writing.
	if closeErr := syscall.Close(fd); closeErr != nil && closeErr != syscall.EINTR && err == nil {
		err = failed("close", closeErr)
	}
{%- if case.has_other_name() && !case.syncs_afterwards() %}
	if err == nil {
		err = giveName(directory, other, name)
	}
{%- endif %}
{%- if case.removes_one() %}
	if err != nil {
		syscall.Unlinkat(directory, {{ case.written("other", "name") }})
	}
{%- endif %}
	return err
}

// writeAll continues interrupted and short calls.
func writeAll(fd int, data []byte) error {
	for chunk := range slices.Chunk(data, chunkSize) {
		for len(chunk) > 0 {
			n, err := syscall.Write(fd, chunk)
			if err == syscall.EINTR {
				continue
			}
			if err != nil {
				return err
			}
			if n == 0 {
				return io.ErrShortWrite
			}
			chunk = chunk[n:]
		}
	}
	return nil
}
{%- if case.has_other_name() %}

func giveName(directory int, other, name string) error {
{%- if case.exchanges() %}
	// The old file gets the other name, and is removed.
	err := twoNames(sysRenameat2, directory, other, directory, name, renameExchange)
	if err == nil {
		if err = syscall.Unlinkat(directory, other); err != nil {
			return &os.PathError{Op: "unlink", Path: name, Err: err}
		}
		return nil
	}
	// EINVAL: the filesystem cannot exchange names. ENOENT: there is no old file.
	if err != syscall.EINVAL && err != syscall.ENOENT {
		return &os.PathError{Op: "renameat2", Path: name, Err: err}
	}
{%- endif %}
	if err := syscall.Renameat(directory, other, directory, name); err != nil {
		return &os.PathError{Op: "rename", Path: name, Err: err}
	}
	return nil
}
{%- endif %}

const atCwd = -100 // AT_FDCWD

func openAt(directory int, name string, flags int, mode uint32) (int, error) {
	for {
		fd, err := syscall.Openat(directory, name, flags|syscall.O_CLOEXEC, mode)
		if err != syscall.EINTR {
			return fd, err
		}
	}
}
{%- if case.options.is_atomic %}

// Package syscall lacks the numbers that follow.
var sysFstatat = map[string]uintptr{"amd64": 262, "arm64": 79}[runtime.GOARCH]

func statAt(directory int, name string, status *syscall.Stat_t) error {
	text, err := syscall.BytePtrFromString(name)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(sysFstatat, uintptr(directory), uintptr(unsafe.Pointer(text)),
		uintptr(unsafe.Pointer(status)), 0, 0, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
{%- endif %}
{%- if case.syncs_filesystem() %}

var sysSyncfs = map[string]uintptr{"amd64": 306, "arm64": 267}[runtime.GOARCH]
{%- endif %}
{%- if case.exchanges() %}

var sysRenameat2 = map[string]uintptr{"amd64": 316, "arm64": 276}[runtime.GOARCH]

const renameExchange = 2 // RENAME_EXCHANGE
{%- endif %}
{%- if case.is_tmpfile() %}

const tmpfile = 0x400000 | syscall.O_DIRECTORY // O_TMPFILE

const followLink = 0x400 // AT_SYMLINK_FOLLOW
{%- endif %}
{%- if case.exchanges() || case.is_tmpfile() %}

func twoNames(call uintptr, oldAt int, oldName string, newAt int, newName string, flags uintptr) error {
	from, err := syscall.BytePtrFromString(oldName)
	if err != nil {
		return err
	}
	to, err := syscall.BytePtrFromString(newName)
	if err != nil {
		return err
	}
	_, _, errno := syscall.Syscall6(call, uintptr(oldAt), uintptr(unsafe.Pointer(from)),
		uintptr(newAt), uintptr(unsafe.Pointer(to)), flags, 0)
	if errno != 0 {
		return errno
	}
	return nil
}
{%- endif %}
{%- if case.options.is_program %}
{% include "go/main.go" %}
{%- endif %}
