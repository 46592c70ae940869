	if {% include "go/size.go" %} == 0 {
		return nil // a mapping cannot be empty
	}
{%- include "go/prepare.go" %}
