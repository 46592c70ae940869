{% if case.has_own_maps() %}mapPart(file, {% if case.copies() %}input{% else %}data{% endif %}, from, until)
{%- else if case.copies() %}copyPart(mapping[from:until], input{% if case.is(Method::MmapMmap) %}, from{% endif %})
{%- else %}writePart({% if case.sync_every().is_some() %}file, {% endif %}mapping[from:until], data[from:until]){% endif %}
