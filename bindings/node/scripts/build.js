// Builds the addon for this machine, at the loader's first path. Arguments are for cargo, by default `--release`.
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const { build } = require('./cargo.js');

const words = process.argv.slice(2);
const ADDON = path.resolve(__dirname, '../direct-io.node');

const { file, why } = build('build', words.length > 0 ? words : ['--release']);
if (file === undefined) {
  console.error(`direct-io.node is not built: ${why}`);
  process.exit(1);
}
// The file is replaced, because a running node may use the old one.
fs.rmSync(ADDON, { force: true });
fs.copyFileSync(file, ADDON);
console.log(`built: ${path.relative(process.cwd(), ADDON)}`);
