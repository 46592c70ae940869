// Our own JavaScript agrees with what the native half was built with, and with Node's types.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

import { PACKAGE } from './files.mjs';

const declared = path.join(PACKAGE, 'lib', 'native.d.ts');
const skip = !fs.existsSync(declared) && 'lib/native.d.ts is made by `npm run build`';

test('what lib/ calls is what the native half has', { skip }, () => {
  const compiler = path.join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc');
  const checks = ['--allowJs', '--checkJs', '--noEmit', '--strict', 'false'];
  const words = [...checks, '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  const files = ['index.js', 'bin/direct-io-benchmark.js', 'bin/get-block-device.js'];
  const { status, stdout } = spawnSync(process.execPath, [compiler, ...words, ...files], { cwd: PACKAGE, encoding: 'utf8' });
  assert.equal(status, 0, stdout);
});
