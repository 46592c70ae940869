{#- Maps, and unmaps at the end of the function. #}
	mapping{% if case.maps_huge() %}, around{% endif %}, err := mapFile(file, {% if case.has_own_maps() %}from, until-from{% else %}0, {% include "go/size.go" %}{% endif %})
	if err != nil {
		return err
	}
	defer syscall.Munmap({% if case.maps_huge() %}around{% else %}mapping{% endif %})
