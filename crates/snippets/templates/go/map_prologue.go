	if {% include "go/size.go" %} == 0 {
		return nil // no mapping is empty
	}
{%- include "go/prepare.go" %}
