{%- if case.writes_rest_go() %}

// {{ case.chunk_name_go() }} writes the end of the file, less than a block, through the page cache.
func {{ case.chunk_name_go() }}(file *os.File, data []byte{{ case.write_parameters_go() }}) error {
	whole := len(data) / blockSize * blockSize
	if whole > 0 {
		if {{ case.write_blocks_go("data[:whole]") }}; err != nil {
			return err
		}
	}
	if whole == len(data) {
		return nil
	}
	if err := endDirect(file); err != nil {
		return err
	}
{%- if case.is_positional() %}
	offset += int64(whole)
{%- endif %}
	{{ case.write_rest_go("data[whole:]") }}
}
{%- endif %}
