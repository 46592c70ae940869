// From here it would be published without its binaries.
'use strict';

console.error('Publish from dist/, where `npm run build:platforms` puts the packages with their binaries.');
process.exit(1);
