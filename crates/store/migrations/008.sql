-- What all candidates of a search are compared with is its baseline.
UPDATE cases
SET record = json_remove(
    json_set(record, '$.is_baseline', json(iif(record ->> '$.is_naive', 'true', 'false'))), '$.is_naive')
WHERE json_type(record, '$.is_naive') IS NOT NULL;
