// Says what comes of locking a file.
const fs = require('node:fs');

const { setFlock } = require('../..');

setFlock(fs.openSync(process.argv[2]), 1, (error) => console.log(error ? error.message : 'locked'));
