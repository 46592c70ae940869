{% extends "go/base.go" %}
{% block fill %}

func fill(file *os.File, data []byte) error {
{%- include "go/prepare.go" %}
{%- if way.is_direct() %}
	whole := len(data) / blockSize * blockSize
{%- include "go/run.go" %}
	// The rest is no whole block: through the page cache.
	if whole < len(data) {
		if err := endDirect(file); err != nil {
			return err
		}
		if _, err := file.WriteAt(data[whole:], int64(whole)); err != nil {
			return err
		}
{%- if way.sync_every().is_some() || way.is_rwf_dsync() %}
		return {% if way.calls_fdatasync_go() %}datasync(file){% else %}file.Sync(){% endif %}
{%- endif %}
	}
{%- else if way.has_part_go() %}
{%- include "go/run.go" %}
{%- else %}
{%- if way.takes_offset_go() && !way.is_single_go() %}
	var offset int64
{%- endif %}
{%- include "go/loop.go" %}
{%- endif %}
{%- include "go/end.go" %}
}
{%- if way.has_part_go() %}

// writePart writes data {% if way.is_positional() %}at an offset{% else %}at the file's position{% endif %}.
func writePart(file *os.File, data []byte{% if way.takes_offset_go() %}, offset int64{% endif %}) error {
{%- include "go/loop.go" %}
	return nil
}
{%- endif %}
{% endblock %}
{% block helpers %}
{%- include "go/write_all.go" %}
{%- if way.threads() > 1 %}
{%- include "go/parts.go" %}
{%- endif %}
{%- include "go/behind.go" %}
{% endblock %}
