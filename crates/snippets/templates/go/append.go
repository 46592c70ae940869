// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//
{%- for line in case.errors("") %}
// {{ line }}
{%- endfor %}
// To build it: go build FILE.go, with Go 1.23 or later.

BUILD

package {% if case.options.is_program %}main{% else %}fileio{% endif %}

IMPORTS
{%- if case.options.is_program %}

const chunkSize = {{ case.chunk().unwrap_or_default() }} // bytes of a call
{%- endif %}

// Before each record are its length and a check, both little-endian. No length is 0, so prepared zeros are no record.
const headSize = 8

// The log begins with a page of its own: this, a salt and their check. Another log's records, which a disk may have
// kept in the same blocks, then have other checks.
const (
	what     = "wb-log1\x00"
	pageSize = 4096
)

// It is a checksum of storage: iSCSI, ext4 and btrfs have it, and processors have an instruction for it.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Log is a file of records.
type Log struct {
	file  *os.File
	mutex sync.Mutex
	end   int64  // of all records
	check uint32 // of the last one
	err   error  // the first

	// WasCut is whether OpenLog has cut more than zeros: records that were not durable, or are damaged.
	WasCut bool
{%- if case.sync_every().is_some() %}

	durable   int64 // the end of the durable ones
	isSyncing bool
	synced    *sync.Cond
{%- endif %}
{%- if case.expects() %}

	expected int64
{%- endif %}
{%- if case.reserves_ahead() %}

	reserved int64
{%- endif %}
}

// OpenLog makes a new log, or opens an old one: it gives its records to the reader, which may be nil, and cuts what
// follows them.
{%- if case.expects() %}
// In a new log, space for the expected bytes is prepared. The file may become longer, and ends with its records.
{%- endif %}
func OpenLog(path string, reader func(record []byte) error{% if case.expects() %}, expected int64{% endif %}) (*Log, error) {
	file, err := os.OpenFile(path, {{ case.access_go(true) }}, 0o666)
	isNew := err == nil
	if errors.Is(err, os.ErrExist) {
		file, err = os.OpenFile(path, {{ case.access_go(false).replace("os.O_WRONLY", "os.O_RDWR") }}, 0)
	}
	if err != nil {
		return nil, err
	}
	log := &Log{file: file}
{%- if case.sync_every().is_some() %}
	log.synced = sync.NewCond(&log.mutex)
{%- endif %}
	// Another process that has it open would lose its records.
	if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		file.Close()
		return nil, &os.PathError{Op: "flock", Path: path, Err: err}
	}
	if isNew {
		if err = log.begin({% if case.expects() %}expected{% endif %}); err != nil {
			os.Remove(path)
		}
	} else {
		err = log.recover(reader)
	}
	if err == nil {
		err = syncDirectory(path)
	}
	if err != nil {
		file.Close()
		return nil, err
	}
{%- if case.sync_every().is_some() %}
	log.durable = log.end
{%- endif %}
	return log, nil
}

func (log *Log) begin({% if case.expects() %}expected int64{% endif %}) error {
{%- if case.omits_checksums() %}
	omitChecksums(log.file)
{%- endif %}
{%- if case.expects() %}
	log.expected = expected
	err := {% if case.sets_length() %}log.file.Truncate(expected)
{%- else if case.reserves() %}reserve(log.file, int(expected))
{%- else %}fillWithZeros(log.file, int(expected)){% endif %}
	if err != nil {
		return err
	}
{%- endif %}
	return log.writeFirstPage()
}

func (log *Log) writeFirstPage() error {
	page := make([]byte, pageSize)
	copy(page, what)
	binary.LittleEndian.PutUint64(page[8:], uint64(time.Now().UnixNano()))
	log.check = crc32.Checksum(page[:16], castagnoli)
	binary.LittleEndian.PutUint32(page[16:], log.check)
	log.end = pageSize
	file := log.file
	{% if case.has_flags() %}return writeAll(file, page, 0)
{%- else %}{% if case.sync_every().is_some() %}if _, err := {% else %}_, err := {% endif %}{% if case.is_positional() %}file.WriteAt(page, 0){% else %}file.Write(page){% endif %}
{%- if case.sync_every().is_some() %}; err != nil {
		return err
	}
	return {{ case.sync_go() }}
{%- else %}
	return err
{%- endif %}
{%- endif %}
}

// recover ends before the first bad record. After a crash, a part of a record may be at the end, or zeros and a later
// record. They were never durable.
func (log *Log) recover(reader func(record []byte) error) error {
	file := log.file
	// The page cache may have data whose sync has failed: only what the disk has counts.
	if err := datasync(file); err != nil {
		return err
	}
	const dontNeed = 4 // POSIX_FADV_DONTNEED
	syscall.Syscall6(syscall.SYS_FADVISE64, file.Fd(), 0, 0, dontNeed, 0, 0)
	input := bufio.NewReader(file)
	page := make([]byte, pageSize)
	length, err := io.ReadFull(input, page)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return err
	}
	log.check = crc32.Checksum(page[:16], castagnoli)
	if length < pageSize || string(page[:8]) != what || binary.LittleEndian.Uint32(page[16:]) != log.check {
		isEmpty, err := isZero(io.MultiReader(bytes.NewReader(page), input))
		if err != nil {
			return err
		}
		if status, err := file.Stat(); err != nil || !status.Mode().IsRegular() || !isEmpty {
			return &os.PathError{Op: "open", Path: file.Name(), Err: errors.New("the file is no log")}
		}
		if err := file.Truncate(0); err != nil {
			return err
		}
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return err
		}
		return log.writeFirstPage()
	}
	log.end = pageSize
	if err := log.readRecords(input, reader); err != nil {
		return err
	}
	if _, err := file.Seek(log.end, io.SeekStart); err != nil {
		return err
	}
	isEmpty, err := isZero(file)
	if err != nil {
		return err
	}
	log.WasCut = !isEmpty
{%- if case.reserves_ahead() %}
	log.reserved = log.end
{%- endif %}
	if err := file.Truncate(log.end); err != nil {
		return err
	}
	if _, err := file.Seek(log.end, io.SeekStart); err != nil {
		return err
	}
	return datasync(file)
}

// readRecords leaves the end and the check of the last whole record in the log.
func (log *Log) readRecords(input io.Reader, reader func(record []byte) error) error {
	isEnd := func(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
	for {
		head := make([]byte, headSize)
		if _, err := io.ReadFull(input, head); isEnd(err) {
			return nil
		} else if err != nil {
			return err
		}
		length := binary.LittleEndian.Uint32(head)
		if length == 0 {
			return nil
		}
		record, err := io.ReadAll(io.LimitReader(input, int64(length)))
		if err != nil {
			return err
		}
		check := log.checkAfter(head[:4], crc32.Checksum(record, castagnoli))
		if len(record) < int(length) || check != binary.LittleEndian.Uint32(head[4:]) {
			return nil
		}
		if reader != nil {
			if err := reader(record); err != nil {
				return err
			}
		}
		log.check = check
		log.end += headSize + int64(length)
	}
}

// isZero is whether only zeros follow.
func isZero(input io.Reader) (bool, error) {
	part := make([]byte, pageSize)
	zeros := make([]byte, pageSize)
	for {
		n, err := input.Read(part)
		if !bytes.Equal(part[:n], zeros[:n]) {
			return false, nil
		}
		if err == io.EOF {
			return true, nil
		}
		if err != nil {
			return false, err
		}
	}
}

// checkAfter contains the check before, so no record of an earlier time is taken for the next one.
func (log *Log) checkAfter(length []byte, crc uint32) uint32 {
	all := binary.LittleEndian.AppendUint32(nil, log.check)
	all = append(all, length...)
	return crc32.Checksum(binary.LittleEndian.AppendUint32(all, crc), castagnoli)
}

// withHead is the bytes of a record in the file, without its check, and its own CRC-32C. One call writes them.
func withHead(record []byte) ([]byte, uint32, error) {
	if len(record) == 0 || len(record) > math.MaxUint32 {
		return nil, 0, fmt.Errorf("a record has 1 to %d bytes, and not %d", uint32(math.MaxUint32), len(record))
	}
	all := make([]byte, headSize, headSize+len(record))
	binary.LittleEndian.PutUint32(all, uint32(len(record)))
	return append(all, record...), crc32.Checksum(record, castagnoli), nil
}
{%- if case.sync_after_several().is_some() %}

// Append may be called by any goroutine. The record is durable after Sync.
func (log *Log) Append(record []byte) error {
	data, crc, err := withHead(record)
	if err != nil {
		return err
	}
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.write(data, crc)
}

// Sync makes all records so far durable. Goroutines that call it at the same time share a sync.
func (log *Log) Sync() error {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.syncAll()
}
{%- else if case.sync_every().is_some() %}

// Append returns when the record is durable. Goroutines that call it at the same time share a sync.
func (log *Log) Append(record []byte) error {
	data, crc, err := withHead(record)
	if err != nil {
		return err
	}
	log.mutex.Lock()
	defer log.mutex.Unlock()
	if err := log.write(data, crc); err != nil {
		return err
	}
	return log.syncAll()
}
{%- else %}

// Append returns when the record is durable. Goroutines that call it at the same time take turns.
func (log *Log) Append(record []byte) error {
	data, crc, err := withHead(record)
	if err != nil {
		return err
	}
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.write(data, crc)
}
{%- endif %}

// write is called with the mutex, so records follow each other.
func (log *Log) write(data []byte, crc uint32) error {
	check := log.checkAfter(data[:4], crc)
	binary.LittleEndian.PutUint32(data[4:], check)
{%- if case.reserves_ahead() %}
	if log.err == nil {
		log.err = reserveAhead(log.file, &log.reserved, log.end+int64(len(data)))
	}
{%- endif %}
	// After an error, a part of the record may be in the file.
	if log.err == nil {
		{% if case.has_flags() %}log.err = writeAll(log.file, data, log.end)
{%- else if case.is_positional() %}_, log.err = log.file.WriteAt(data, log.end)
{%- else %}_, log.err = log.file.Write(data){% endif %}
	}
	if log.err == nil {
		log.end += int64(len(data))
		log.check = check
	}
	return log.err
}
{%- if case.sync_every().is_some() %}

// syncAll is called with the mutex. It returns when all records so far are durable.
func (log *Log) syncAll() error {
	file, end := log.file, log.end
	for log.durable < end && log.err == nil {
		if log.isSyncing {
			log.synced.Wait()
			continue
		}
		// Other goroutines append meanwhile. The next sync is for their records.
		synced := log.end
		log.isSyncing = true
		log.mutex.Unlock()
		err := {{ case.sync_go() }}
		log.mutex.Lock()
		log.isSyncing = false
		if err == nil {
			log.durable = synced
		} else if log.err == nil {
			log.err = err
		}
		log.synced.Broadcast()
	}
	if log.durable >= end {
		return nil
	}
	return log.err
}
{%- endif %}

// Close is called when no goroutine uses the log any more. After an error of an earlier call, it returns that error.
func (log *Log) Close() error {
{%- if case.sync_after_several().is_some() %}
	err := log.Sync()
{%- else %}
	err := log.err
{%- endif %}
{%- if case.expects() %}
	if err == nil && log.end < log.expected {
		if err = log.file.Truncate(log.end); err == nil {
			err = datasync(log.file)
		}
	}
{%- endif %}
{%- if case.reserves_ahead() %}
	// The file ends with its records.
	if err == nil {
		err = log.file.Truncate(log.end)
	}
	if err == nil {
		err = datasync(log.file)
	}
{%- endif %}
	// A late error of the filesystem, such as NFS, is one of writing.
	if closeErr := log.file.Close(); err == nil {
		err = closeErr
	}
	return err
}
{%- include "go/omit_checksums.go" %}
{%- include "go/reserve.go" %}
{%- include "go/write_all.go" %}
{%- include "go/sync.go" %}
{%- if case.options.is_program %}

func appendSource(path string, source io.Reader{% if case.expects() %}, expected int64{% endif %}) error {
	log, err := OpenLog(path, nil{% if case.expects() %}, expected{% endif %})
	if err != nil {
		return err
	}
	err = appendRecords(log, source)
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	return err
}

func appendRecords(log *Log, source io.Reader) error {
	record := make([]byte, chunkSize-headSize)
	for {% if case.sync_after_several().is_some() %}records := 1; ; records++ {% endif %}{
		n, err := io.ReadFull(source, record) // only the last is shorter
		if err != nil && err != io.ErrUnexpectedEOF {
			if err == io.EOF {
				return nil
			}
			return err
		}
		if err := log.Append(record[:n]); err != nil {
			return err
		}
{%- if let Some(every) = case.sync_after_several() %}
		if records%{{ every }} == 0 {
			if err := log.Sync(); err != nil {
				return err
			}
		}
{%- endif %}
	}
}
{% include "go/main.go" %}
{%- endif %}
