{#- Maps, and unmaps at the end of the function. #}
	mapping{% if way.maps_huge() %}, around{% endif %}, err := mapFile(file, {% if way.has_own_maps() %}from, until-from{% else %}0, {{ way.size_go() }}{% endif %})
	if err != nil {
		return err
	}
	defer syscall.Munmap({% if way.maps_huge() %}around{% else %}mapping{% endif %})
