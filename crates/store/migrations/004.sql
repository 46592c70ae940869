-- A run has one target or several: each has its facts and its limits, each row and each sample is of one of them.

CREATE TABLE targets (
    run         INTEGER NOT NULL REFERENCES runs (number) ON DELETE CASCADE,
    position    INTEGER NOT NULL,               -- column in the run's tables
    name        TEXT NOT NULL,                  -- what tables call it
    path        TEXT,                           -- none, as all below but `missing`, where there is no such target
    environment TEXT,                           -- JSON
    limits      TEXT,                           -- JSON array
    making      TEXT,                           -- JSON: how the run made it; none if it was there
    properties  TEXT,                           -- JSON: what its filesystem does with files
    missing     TEXT,                           -- why there is no such target; none if there is
    PRIMARY KEY (run, position),
    UNIQUE (run, name)
) STRICT, WITHOUT ROWID;

INSERT INTO targets (run, position, name, path, environment, limits)
    SELECT number, 0, target, target, environment, limits FROM runs;

ALTER TABLE runs DROP COLUMN target;
ALTER TABLE runs DROP COLUMN environment;
ALTER TABLE runs DROP COLUMN limits;

ALTER TABLE cases ADD COLUMN target INTEGER NOT NULL DEFAULT 0;     -- the target's position
ALTER TABLE samples ADD COLUMN target INTEGER NOT NULL DEFAULT 0;
