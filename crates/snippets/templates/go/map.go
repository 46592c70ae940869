{% extends "go/base.go" %}
{% block fill %}

func fill(file *os.File, data []byte) error {
{% include "go/map_prologue.go" %}
{%- if way.overwrites() %}
	// A mapping makes no file longer: behind its end is SIGBUS.
	status, err := file.Stat()
	if err == nil && status.Size() < int64(len(data)) {
		err = file.Truncate(int64(len(data)))
	}
	if err != nil {
		return err
	}
{%- endif %}
{%- if way.has_own_maps() || way.threads() > 1 %}
{%- include "go/map_run.go" %}
{%- else %}
{%- include "go/mapped.go" %}
{%- if way.map_ends_with_parts_go() %}
	return writePart({% if way.store_syncs_go() %}file, {% endif %}mapping, data)
{%- else %}
	if err := writePart({% if way.store_syncs_go() %}file, {% endif %}mapping, data); err != nil {
		return err
	}
{%- endif %}
{%- endif %}
{%- include "go/map_end.go" %}
}
{%- if way.has_own_maps() %}

// mapPart writes the bytes between two offsets through a mapping of its own.
func mapPart(file *os.File, data []byte, from, until int) error {
{%- include "go/mapped.go" %}
{%- if way.syncs_at_end() && way.syncs_map() %}
	if err := writePart(mapping, data[from:until]); err != nil {
		return err
	}
	return msync(file, mapping)
{%- else %}
	return writePart({% if way.store_syncs_go() %}file, {% endif %}mapping, data[from:until])
{%- endif %}
}
{%- endif %}

// writePart stores data into a mapping.
func writePart({% if way.store_syncs_go() %}file *os.File, {% endif %}mapping, data []byte) error {
{%- if way.chunk().is_none() %}
	chunkSize := len(data)
{%- endif %}
{%- if way.sync_every().is_some() %}
	chunks{% if way.syncs_map() %}, synced{% endif %} := 0{% if way.syncs_map() %}, 0{% endif %}
{%- endif %}
{%- if way.prepares_windows_go() %}
	prepared := 0
{%- endif %}
	for at := 0; at < len(data); {
{%- if way.prepares_windows_go() %}
		if at == prepared {
			prepared += min(windowSize, len(data)-at)
			if err := prepareWindow(mapping[at:prepared]); err != nil {
				return err
			}
		}
		at += copy(mapping[at:], data[at:min(at+chunkSize, prepared)])
{%- else %}
		at += copy(mapping[at:], data[at:min(at+chunkSize, len(data))])
{%- endif %}
{%- if let Some(every) = way.sync_every() %}
		if chunks++; chunks >= {{ every }} || at == len(data) {
			chunks = 0
{%- if way.syncs_map() %}
			page := synced / 4096 * 4096 // msync(2) begins at a page
			if err := msync(file, mapping[page:at]); err != nil {
				return err
			}
			synced = at
{%- else %}
			if err := {{ way.sync_go() }}; err != nil {
				return err
			}
{%- endif %}
		}
{%- endif %}
	}
	return nil
}
{% endblock %}
{% block helpers %}
{%- include "go/map_target.go" %}
{%- if way.threads() > 1 %}
{%- include "go/parts.go" %}
{%- endif %}
{% endblock %}
