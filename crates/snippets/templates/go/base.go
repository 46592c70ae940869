// {{ way.name() }}
//
{%- for line in way.about() %}
// {{ line }}
{%- endfor %}
//

{%- for line in way.errors("") %}
// {{ line }}
{%- endfor %}
{%- if way.maps_target() || way.maps_source() %}
// If {% if way.maps_target() %}the file{% else %}the source{% endif %} is made shorter meanwhile
{%- if way.maps_target() %}, or its disk is full{% endif %}, SIGBUS ends the program
{%- if way.maps_target() && !way.reserves_blocks() %}:
// reserve its blocks with fallocate(2) where that matters{% endif %}.
{%- endif %}
// To build it: go build FILE.go, with Go 1.23 or later.

BUILD

package {% if way.main() %}main{% else %}fileio{% endif %}

IMPORTS

{% if let Some(chunk) = way.chunk() -%}
const chunkSize = {{ chunk }}{% if way.is_vectored() || way.maps_target() || way.is(Method::Splice) %}{% else %} // bytes of a call{% endif %}
{%- endif %}
{%- if way.is_vectored() %}

const vectorSize = {{ way.vector() }} // chunks handed over in one call
{%- endif %}
{%- if way.is(Method::Pipeline) %}

const depth = {{ way.depth() }} // buffers that go round
{%- endif %}
{%- if way.threads() > 1 %}

const threads = {{ way.threads() }}
{%- endif %}
{%- if way.is_direct() %}

const blockSize = {{ way.block() }} // with O_DIRECT, addresses, offsets and lengths are multiples of this
{%- endif %}
{%- if way.prepares_windows_go() %}

const windowSize = {% if way.populates_all() && !way.huge_is_collapse() %}math.MaxInt{% else %}{{ way.window() }}{% endif %} // bytes that are prepared at a time
{%- endif %}

{% if way.copies() -%}
// CopyFile copies the file source to {% if way.creates_name() && !way.atomic() %}a new file at {% endif %}path.
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
{%- else if way.streams() -%}
// WriteStream writes what source gives, until io.EOF, to {% if way.atomic() %}the{% else if way.creates_name() %}a new{% else %}the existing{% endif %} file at path.
{%- if way.expects() %}
// As many bytes as expected are got ready; the file ends where the data does.
{%- endif %}
func WriteStream(path string, source io.Reader{% if way.expects() %}, expected int64{% endif %}) error {
{%- else -%}
// WriteFile writes data to {% if way.atomic() %}the{% else if way.creates_name() %}a new{% else %}the existing{% endif %} file at path.
func WriteFile(path string, data []byte) error {
{%- endif %}
{%- if way.atomic() %}
	// Under another name until it is whole.
	name := fmt.Sprintf("%s.%d.%d.tmp", path, os.Getpid(), time.Now().UnixNano())
	mode := os.FileMode(0o666)
	old, err := os.Stat(path)
	if err == nil {
		mode = old.Mode().Perm()
	}
{%- endif %}
	file, err := {% if way.is_direct() %}openFile({% else %}os.OpenFile({% endif %}
{%- if way.atomic() %}name{% else %}path{% endif %}, {{ way.access_go() }}{% if way.atomic() %}, mode){% else if way.is_direct() %}){% else %}, 0o666){% endif %}
	if err != nil {
		return err
	}
{%- if way.atomic() %}
	if old != nil {
		err = keepMode(file, old)
	}
	if err == nil {
		err = fill(file, {{ way.what_go() }})
	}
{%- else %}
	err = fill(file, {{ way.what_go() }})
{%- endif %}
	// A late error of the filesystem, such as NFS, is one of writing.
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
{%- if way.atomic() %}
	if err == nil {
		err = os.Rename(name, path)
	}
{%- endif %}
{%- if way.creates_name() && way.is_durable() %}
	if err == nil {
		err = syncDirectory(path)
	}
{%- endif %}
{%- if way.removes_on_error() %}
	if err != nil {
		os.Remove({% if way.atomic() %}name{% else %}path{% endif %})
	}
{%- endif %}
	return err
}
{%- if way.atomic() %}

// keepMode gives the new file the mode of the one that it replaces, and its group and owner if it may.
func keepMode(file *os.File, old os.FileInfo) error {
	owner := old.Sys().(*syscall.Stat_t)
	if file.Chown(-1, int(owner.Gid)) == nil {
		file.Chown(int(owner.Uid), -1)
	}
	return file.Chmod(old.Mode().Perm())
}
{%- endif %}
{%- block fill %}{% endblock %}
{%- block helpers %}{% endblock %}
{%- include "go/open.go" %}
{%- include "go/reserve.go" %}
{%- include "go/sync.go" %}
{%- if way.main() %}
{% include "go/main.go" %}
{%- endif %}
