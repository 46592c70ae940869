#!/usr/bin/env node
// Prints the facts of a block device.
'use strict';

const fs = require('node:fs');

const { getBlockDevice } = require('../index.js').promises;

const USAGE = 'Usage: get-block-device <path>';

// logicalSectorSize → Logical Sector Size
const words = (key) => `${key[0].toUpperCase()}${key.slice(1).replace(/[A-Z]/g, ' $&')}`;

function fail(message, status) {
  console.error(message);
  process.exitCode = status;
}

async function print(path) {
  const fd = fs.openSync(path, 'r');
  try {
    const lines = Object.entries(await getBlockDevice(fd)).map(
      ([key, value]) => `${words(key).padStart(22)}: ${JSON.stringify(value)}`
    );
    console.log(['', ...lines, ''].join('\n'));
  } catch (error) {
    const said = error.syscall === undefined ? '' : ` (${error.cause})`;
    error.message = `${path}: ${error.message}${said}`;
    throw error;
  } finally {
    fs.closeSync(fd);
  }
}

const [path, ...more] = process.argv.slice(2);
if (path === '--help' || path === '-h') console.log(USAGE);
else if (path === undefined || more.length > 0) fail(USAGE, 1);
else print(path).catch((error) => fail(`Error: ${error.message}`, 1));
