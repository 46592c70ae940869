-- Runs that came from somebody's document: they are shown and compared, and never resumed.

ALTER TABLE runs ADD COLUMN imported INTEGER NOT NULL DEFAULT 0;

-- Earlier versions did not say. A run that copies a file may be a stranger's, who named that file.
UPDATE runs SET imported = 1 WHERE settings LIKE '%"copy_from":"%';
