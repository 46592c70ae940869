// {{ case.name() }}
//
{%- for line in case.about() %}
// {{ line }}
{%- endfor %}
//

{%- for line in case.errors("") %}
// {{ line }}
{%- endfor %}
{%- if case.maps_target() || case.maps_source() %}
// If {% if case.maps_target() %}the file{% else %}the source{% endif %} becomes shorter
{%- if case.maps_target() %}, or its disk is full{% endif %}, SIGBUS ends the program
{%- if case.maps_target() && !case.reserves_blocks() %}:
// reserve its blocks with fallocate(2) where that matters{% endif %}.
{%- endif %}
// To build it: go build FILE.go, with Go 1.23 or later.

BUILD

package {% if case.options.is_program %}main{% else %}fileio{% endif %}

IMPORTS

{% if let Some(chunk) = case.chunk() -%}
const chunkSize = {{ chunk }}{% if case.is_vectored() || case.maps_target() || case.is(Method::Splice) %}{% else %} // bytes of a call{% endif %}
{%- endif %}
{%- if case.is_vectored() %}

const vectorSize = {{ case.choices().vector }} // chunks per call
{%- endif %}
{%- if case.has_writers() %}

const (
	writers = {{ case.writers() }}
	depth   = writers + 1 // buffers: the producer fills one
)
{%- endif %}
{%- if case.is(Method::Pipeline) %}

const depth = {{ case.choices().depth }} // buffers in turn
{%- endif %}
{%- if case.threads() > 1 %}

const threads = {{ case.threads() }}
{%- endif %}
{%- if case.is_direct() %}

const blockSize = {{ case.block() }} // with O_DIRECT, addresses, offsets and lengths are multiples of this
{%- endif %}
{%- if case.prepares_windows() %}

const windowSize = {% if case.populates_all() && !case.huge_is_collapse() %}math.MaxInt{% else %}{{ case.window() }}{% endif %} // bytes prepared at a time
{%- endif %}

{% if case.copies() -%}
// CopyFile copies the file source to {% if case.creates_name() && !case.options.is_atomic %}a new file at {% endif %}path.
func CopyFile(source, path string) error {
	input, err := os.Open(source)
	if err != nil {
		return err
	}
	defer input.Close()
	status, err := input.Stat()
	if err != nil {
		return err
	}
	if !status.Mode().IsRegular() {
		return &os.PathError{Op: "copy", Path: source, Err: errors.New("not a regular file")}
	}
{%- if case.meets_source() %}
	if isSource(path, status) {
		return &os.PathError{Op: "copy", Path: path, Err: errors.New("the same file as " + source)}
	}
{%- endif %}
{%- else if case.options.is_stream -%}
// WriteStream writes what source gives, until io.EOF, to {% if case.options.is_atomic %}the{% else if case.creates_name() %}a new{% else %}the existing{% endif %} file at path.
{%- if case.expects() %}
// Space for the expected bytes is prepared. The file ends with the data.
{%- endif %}
func WriteStream(path string, source io.Reader{% if case.expects() %}, expected int64{% endif %}) error {
{%- else -%}
// WriteFile writes data to {% if case.options.is_atomic %}the{% else if case.creates_name() %}a new{% else %}the existing{% endif %} file at path.
func WriteFile(path string, data []byte) error {
{%- endif %}
{%- if case.options.is_atomic %}
	// Under another name until it is complete.
	name := fmt.Sprintf("%s.%d.%d.tmp", path, os.Getpid(), time.Now().UnixNano())
	mode := {{ case.new_mode_go(" ") }}
	old, err := os.Stat(path)
	if err == nil {
		mode = old.Mode().Perm()
	}
{%- endif %}
	file, err := {% if case.is_direct() %}openFile({% else %}os.OpenFile({% endif %}
{%- if case.options.is_atomic %}name{% else %}path{% endif %}, {{ case.access_go(true) }}{% if case.options.is_atomic %}, mode){% else if case.chooses_mode() %}, {{ case.new_mode_go("") }}){% else if case.is_direct() %}){% else %}, 0o666){% endif %}
	if err != nil {
		return err
	}
{%- if case.omits_checksums() %}
	omitChecksums(file)
{%- endif %}
{%- if case.options.is_atomic %}
	if old != nil {
		err = keepMode(file, old)
	}
	if err == nil {
		err = fill(file, {% include "go/what.go" %})
	}
{%- else %}
	err = fill(file, {% include "go/what.go" %})
{%- endif %}
{%- if case.checks_end() %}
	if err == nil {
		err = endsAt(input, status.Size())
	}
{%- endif %}
{%- if case.reopens_copy() %}
	if err == nil{% if case.options.is_atomic %} && old == nil{% endif %} {
		err = narrowMode(file, status.Mode())
	}
{%- endif %}
	// A late error of the filesystem, such as NFS, is one of writing.
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
{%- if case.options.is_atomic %}
	if err == nil {
		err = os.Rename(name, path)
	}
{%- endif %}
{%- if case.creates_name() && case.is_durable() %}
	if err == nil {
		err = syncDirectory(path)
	}
{%- endif %}
{%- if case.creates_name() %}
	if err != nil {
		os.Remove({% if case.options.is_atomic %}name{% else %}path{% endif %})
	}
{%- endif %}
	return err
}
{%- if case.options.is_atomic %}

// keepMode copies the mode of the replaced file, and its owner and group if permitted.
func keepMode(file *os.File, old os.FileInfo) error {
	if !old.Mode().IsRegular() { // a device or a pipe would become a file
		return &os.PathError{Op: "replace", Path: old.Name(), Err: syscall.EINVAL}
	}
	owner := old.Sys().(*syscall.Stat_t)
	if file.Chown(-1, int(owner.Gid)) == nil {
		file.Chown(int(owner.Uid), -1)
	}
	return file.Chmod(old.Mode().Perm())
}
{%- endif %}
{%- include "go/omit_checksums.go" %}
{%- include "go/source.go" %}
{%- block fill %}{% endblock %}
{%- block helpers %}{% endblock %}
{%- include "go/open.go" %}
{%- include "go/reserve.go" %}
{%- include "go/sync.go" %}
{%- if case.options.is_program %}
{% include "go/main.go" %}
{%- endif %}
