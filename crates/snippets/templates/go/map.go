{% extends "go/base.go" %}
{% block fill %}

func fill(file *os.File, data []byte) error {
{% include "go/map_prologue.go" %}
{%- if case.overwrites() %}
	// A mapping does not make the file longer. An access behind the end is SIGBUS.
	status, err := file.Stat()
	if err == nil && status.Size() < int64(len(data)) {
		err = file.Truncate(int64(len(data)))
	}
	if err != nil {
		return err
	}
{%- endif %}
{%- if case.has_own_maps() || case.threads() > 1 %}
{%- include "go/map_run.go" %}
{%- else %}
{%- include "go/mapped.go" %}
{%- if case.map_ends_with_parts_go() %}
	return writePart({% if case.sync_every().is_some() %}file, {% endif %}mapping, data)
{%- else %}
	if err := writePart({% if case.sync_every().is_some() %}file, {% endif %}mapping, data); err != nil {
		return err
	}
{%- endif %}
{%- endif %}
{%- include "go/map_end.go" %}
}
{%- if case.has_own_maps() %}

// mapPart writes the bytes between two offsets through its own mapping.
func mapPart(file *os.File, data []byte, from, until int) error {
{%- include "go/mapped.go" %}
{%- if case.syncs_at_end() && case.syncs_map() %}
	if err := writePart(mapping, data[from:until]); err != nil {
		return err
	}
	return msync(file, mapping)
{%- else %}
	return writePart({% if case.sync_every().is_some() %}file, {% endif %}mapping, data[from:until])
{%- endif %}
}
{%- endif %}

// writePart stores data into a mapping.
func writePart({% if case.sync_every().is_some() %}file *os.File, {% endif %}mapping, data []byte) error {
{%- if case.chunk().is_none() %}
	chunkSize := len(data)
{%- endif %}
{%- if case.sync_every().is_some() %}
	chunks{% if case.syncs_map() %}, synced{% endif %} := 0{% if case.syncs_map() %}, 0{% endif %}
{%- endif %}
{%- if case.prepares_windows() %}
	prepared := 0
{%- endif %}
	for at := 0; at < len(data); {
{%- if case.prepares_windows() %}
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
{%- if let Some(every) = case.sync_every() %}
		if chunks++; chunks >= {{ every }} || at == len(data) {
			chunks = 0
{%- if case.syncs_map() %}
			page := synced / 4096 * 4096 // msync(2) begins at a page
			if err := msync(file, mapping[page:at]); err != nil {
				return err
			}
			synced = at
{%- else %}
			if err := {{ case.sync_go() }}; err != nil {
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
{%- if case.threads() > 1 %}
{%- include "go/parts.go" %}
{%- endif %}
{% endblock %}
