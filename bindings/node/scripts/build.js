// Builds the addon for this machine, where the loader looks first.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { build } = require('./cargo.js');

const ADDON = path.resolve(__dirname, '../direct-io.node');

const { file, why } = build('build', []);
if (file === undefined) {
  console.error(`direct-io.node is not built: ${why}`);
  process.exit(1);
}
// A new file: the old one may be in use by a running node.
fs.rmSync(ADDON, { force: true });
fs.copyFileSync(file, ADDON);
console.log(`built: ${path.relative(process.cwd(), ADDON)}`);
