// Publishing from here would omit the binaries.
'use strict';

console.error('Publish from dist/, where `npm run build:platforms` puts the packages with their binaries.');
process.exit(1);
