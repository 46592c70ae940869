-- Rows that have a name in their suite, and how long records took.

ALTER TABLE cases ADD COLUMN label TEXT;
ALTER TABLE samples ADD COLUMN latency TEXT;    -- JSON, with an HDR histogram
