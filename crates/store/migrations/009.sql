-- The memory that the data is in is one axis and part of the contract, and its default is now any memory. Until now
-- it began at a page, unless `alignment` said otherwise; methods without these axes read no data of ours from memory,
-- but fwrite does.
CREATE TABLE moved AS
SELECT run, position, name,
    CASE
        WHEN record ->> '$.axes.alignment' = 'off-by-one' THEN 'any'
        WHEN record ->> '$.axes.memory' = 'huge-pages' THEN 'huge-pages'
        ELSE 'page-aligned'
    END AS memory
FROM cases
WHERE (record ->> '$.axes.memory' IN ('plain', 'huge-pages')
        OR (record ->> '$.method' = 'fwrite' AND record ->> '$.axes.memory' IS NULL))
    -- No name of today means this.
    AND NOT (
        coalesce(record ->> '$.axes.alignment', '') = 'off-by-one' AND record ->> '$.axes.memory' = 'huge-pages');

ALTER TABLE moved ADD COLUMN new_name TEXT;
UPDATE moved
SET new_name = replace(name, ',alignment=off-by-one', '') || iif(memory = 'page-aligned', ',memory=page-aligned', '');

UPDATE cases SET record = json_set(record, '$.contract.memory', 'any');
UPDATE cases
SET name = moved.new_name,
    record = json_remove(
        json_set(
            record, '$.id', moved.new_name, '$.axes.memory', moved.memory, '$.contract.memory', moved.memory,
            -- The label of a search's case is its name with the real size.
            '$.label', CASE WHEN record ->> '$.stage' IS NULL OR record ->> '$.label' IS NULL THEN record ->> '$.label'
                ELSE record ->> '$.label' || iif(moved.memory = 'page-aligned', ',memory=page-aligned', '') END),
        '$.axes.alignment')
FROM moved
WHERE moved.run = cases.run AND moved.position = cases.position;
UPDATE samples
SET name = moved.new_name
FROM moved
WHERE moved.run = samples.run AND moved.name = samples.name;

DROP TABLE moved;

-- The words of tables and options. A quotation mark inside a text has a backslash, so only names match.
UPDATE runs SET run = replace(replace(run, '"copy_from":', '"from":'), '"copy_to":', '"to":');
UPDATE targets SET target = replace(replace(target, '"making":', '"made_filesystem":'), '"how":', '"description":');
UPDATE cases SET record = replace(replace(record, '"id":', '"name":'), '"start":', '"initial_state":');
UPDATE samples
SET sample = replace(
    replace(replace(sample, '"watch":', '"system_state":'), '"disturbed":', '"disturbed_by":'),
    '"limit_ns":', '"timeout_ns":');
