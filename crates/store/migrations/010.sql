-- The methods of io_uring have the name of their calls. Names in JSON that SQL does not compare are translated whenever they
-- are read, by `earlier_names.rs`, as those of documents are.
UPDATE cases
SET name = 'io_' || name,
    record = json_set(record, '$.name', 'io_' || name, '$.method', 'io_' || (record ->> '$.method'))
WHERE name GLOB 'uring*';
UPDATE samples SET name = 'io_' || name WHERE name GLOB 'uring*';
