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

const chunkSize = {{ case.chunk().unwrap_or_default() }} // bytes of a record
{%- endif %}

// Log is a file of records.
type Log struct {
	file  *os.File
	mutex sync.Mutex
	end   int64 // of all records
	err   error // the first
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

// OpenLog makes a new file.
{%- if case.expects() %}
// Space for the expected bytes is prepared. The file may become longer, and ends with its records.
{%- endif %}
func OpenLog(path string{% if case.expects() %}, expected int64{% endif %}) (*Log, error) {
	file, err := os.OpenFile(path, {{ case.access_go(true) }}, 0o666)
	if err != nil {
		return nil, err
	}
{%- if case.omits_checksums() %}
	omitChecksums(file)
{%- endif %}
{%- if case.expects() %}
	err = {% if case.axes().prepare == Prepare::SetLen %}file.Truncate(expected)
{%- else if case.reserves() %}reserve(file, int(expected))
{%- else %}fillWithZeros(file, int(expected)){% endif %}
	if err == nil {
		err = syncDirectory(path)
	}
{%- else %}
	err = syncDirectory(path)
{%- endif %}
	if err != nil {
		file.Close()
		os.Remove(path)
		return nil, err
	}
{%- if case.sync_every().is_some() %}
	log := &Log{file: file{% if case.expects() %}, expected: expected{% endif %}}
	log.synced = sync.NewCond(&log.mutex)
	return log, nil
{%- else %}
	return &Log{file: file{% if case.expects() %}, expected: expected{% endif %}}, nil
{%- endif %}
}
{%- if case.sync_after_several().is_some() %}

// Append may be called by any goroutine. The record is durable after Sync.
func (log *Log) Append(record []byte) error {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.write(record)
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
	log.mutex.Lock()
	defer log.mutex.Unlock()
	if err := log.write(record); err != nil {
		return err
	}
	return log.syncAll()
}
{%- else %}

// Append returns when the record is durable. Goroutines that call it at the same time take turns.
func (log *Log) Append(record []byte) error {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	return log.write(record)
}
{%- endif %}

// write is called with the mutex, so records follow each other.
func (log *Log) write(record []byte) error {
{%- if case.reserves_ahead() %}
	if log.err == nil {
		log.err = reserveAhead(log.file, &log.reserved, log.end+int64(len(record)))
	}
{%- endif %}
	// After an error, a part of the record may be in the file.
	if log.err == nil {
		{% if case.has_flags() %}log.err = writeAll(log.file, record, log.end)
{%- else if case.is_positional() %}_, log.err = log.file.WriteAt(record, log.end)
{%- else %}_, log.err = log.file.Write(record){% endif %}
	}
	if log.err == nil {
		log.end += int64(len(record))
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
	log, err := OpenLog(path{% if case.expects() %}, expected{% endif %})
	if err != nil {
		return err
	}
	err = appendRecords(log, source)
	if closeErr := log.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		os.Remove(path)
	}
	return err
}

func appendRecords(log *Log, source io.Reader) error {
	record := make([]byte, chunkSize)
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
