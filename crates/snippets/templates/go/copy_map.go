{% extends "go/base.go" %}
{% block fill %}

func fill(file, input *os.File, size int) error {
{% include "go/map_prologue.go" %}
{%- if case.overwrites() %}
	// A mapping does not make the file longer, and it may have been longer.
	if err := file.Truncate(int64(size)); err != nil {
		return err
	}
{%- endif %}
{%- if case.threads() > 1 %}
{%- include "go/map_run.go" %}
{%- else %}
{%- include "go/mapped.go" %}
{%- if case.map_ends_with_parts_go() %}
	return copyPart(mapping, input{% if case.is(Method::MmapMmap) %}, 0{% endif %})
{%- else %}
	if err := copyPart(mapping, input{% if case.is(Method::MmapMmap) %}, 0{% endif %}); err != nil {
		return err
	}
{%- endif %}
{%- endif %}
{%- include "go/map_end.go" %}
}
{%- if case.has_own_maps() %}

// mapPart copies the bytes between two offsets into its own mapping.
func mapPart(file, input *os.File, from, until int) error {
{%- include "go/mapped.go" %}
{%- if case.syncs_at_end() && case.syncs_map() %}
	if err := copyPart(mapping, input{% if case.is(Method::MmapMmap) %}, from{% endif %}); err != nil {
		return err
	}
	return msync(file, mapping)
{%- else %}
	return copyPart(mapping, input{% if case.is(Method::MmapMmap) %}, from{% endif %})
{%- endif %}
}
{%- endif %}

// copyPart fills a mapping {% if case.is(Method::MmapMmap) %}with what the source has from an offset on{% else %}from the source's position on{% endif %}.
func copyPart(mapping []byte, input *os.File{% if case.is(Method::MmapMmap) %}, from int{% endif %}) error {
{%- if case.chunk().is_none() %}
	chunkSize := len(mapping)
{%- endif %}
{%- if case.is(Method::MmapMmap) %}
	data, err := syscall.Mmap(int(input.Fd()), int64(from), len(mapping), syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return &os.PathError{Op: "mmap", Path: input.Name(), Err: err}
	}
	defer syscall.Munmap(data)
{%- if case.is_sequential() %}
	syscall.Madvise(data, syscall.MADV_WILLNEED)
	syscall.Madvise(data, syscall.MADV_SEQUENTIAL)
{%- endif %}
{%- if case.populates() %}
	const populateRead = 22 // MADV_POPULATE_READ: older kernels refuse, and fault the pages in one by one
{%- endif %}
{%- else if case.is_sequential() %}
	adviseSequential(input)
{%- endif %}
{%- if case.prepares_windows() %}
	prepared := 0
{%- endif %}
	for at := 0; at < len(mapping); {
{%- if case.prepares_windows() %}
		if at >= prepared {
			prepared = min((at/windowSize+1)*windowSize, len(mapping))
{%- if case.is(Method::MmapMmap) && case.populates() %}
			syscall.Madvise(data[at:prepared], populateRead)
{%- endif %}
			if err := prepareWindow(mapping[at:prepared]); err != nil {
				return err
			}
		}
{%- endif %}
		until := min(at+chunkSize, len(mapping))
{%- if case.is(Method::MmapMmap) %}
		at += copy(mapping[at:until], data[at:until])
{%- else %}
		n, err := {{ case.read_go("mapping[at:until]") }}
		if err == io.EOF {
			return &os.PathError{Op: "read", Path: input.Name(), Err: io.ErrUnexpectedEOF}
		}
		if err != nil {
			return err
		}
		at += n
{%- endif %}
	}
	return nil
}
{% endblock %}
{% block helpers %}
{%- include "go/map_target.go" %}
{%- include "go/copy_helpers.go" %}
{% endblock %}
