{%- if way.writes_rest_go() %}

// {{ way.chunk_name_go() }} writes the end of the file, which is no whole block, through the page cache.
func {{ way.chunk_name_go() }}(file *os.File, data []byte{{ way.write_parameters_go() }}) error {
	whole := len(data) / blockSize * blockSize
	if whole > 0 {
		if {{ way.write_blocks_go("data[:whole]") }}; err != nil {
			return err
		}
	}
	if whole == len(data) {
		return nil
	}
	if err := endDirect(file); err != nil {
		return err
	}
{%- if way.is_positional() %}
	offset += int64(whole)
{%- endif %}
	{{ way.write_rest_go("data[whole:]") }}
}
{%- endif %}
