// The packages as users get them: packed and installed by npm.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

import { noLoopDevice, withLoopDevice } from './files.mjs';
import { NAME, PACKAGE, here, install, npm, pack, projectWith } from './installed.mjs';

const SEED = '@ronomon/direct-io@3.0.1';
const SEED_INTEGRITY =
  'sha512-NkKB32bjq7RfMdAMiWayphMlVWzsfPiKelK+btXLqggv1vDVgv2xELqeo0z4uYLLt86fVReLPxQj7qpg0zWvow==';

const { project, folder } = install();
after(() => fs.rmSync(project, { recursive: true, force: true }));

const node = (words, options = {}) =>
  spawnSync(process.execPath, words, { cwd: project, encoding: 'utf8', timeout: 300_000, ...options });

const evaluate = (code, ...words) => node([...words, '-e', code]);

const binary = path.join(project, 'node_modules', `${NAME}-${here().name}`);

// The package's own, unmodified test, which npm fetches and checks.
test("the test of @ronomon/direct-io passes, with this package as its '.'", (context) => {
  const into = fs.mkdtempSync(path.join(os.tmpdir(), 'ronomon-'));
  try {
    let packed;
    try {
      packed = JSON.parse(npm(['pack', SEED, '--json', '--pack-destination', into], into))[0];
    } catch (error) {
      if (!/ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ENOTCACHED|ENETUNREACH/.test(error.stderr)) throw error;
      context.skip('the npm registry cannot be reached');
      return;
    }
    assert.equal(packed.integrity, SEED_INTEGRITY);
    assert.equal(spawnSync('tar', ['-xzf', packed.filename], { cwd: into }).status, 0);
    const copy = path.join(folder, 'test.js');
    fs.copyFileSync(path.join(into, 'package', 'test.js'), copy);
    const done = node([copy]);
    fs.rmSync(copy);
    assert.equal(done.status, 0, done.stderr);
    assert.equal(done.stderr, '');
    const lines = done.stdout.trim().split('\n');
    assert.ok(lines.every((line) => line.startsWith('PASS: ')), done.stdout);
    assert.equal(lines.filter((line) => line.includes('PASS: getAlignedBuffer(')).length >= 260, true);
    if (process.platform !== 'win32') assert.match(lines.at(-1), /setFlock\(fd2, 0\)/);
  } finally {
    fs.rmSync(into, { recursive: true, force: true });
  }
});

test('require and import give the same names, and import also has a default', () => {
  const code = `const fromRequire = require('${NAME}');
    import('${NAME}').then((fromImport) => {
      const { default: whole, ...named } = fromImport;
      console.log(JSON.stringify({
        required: Object.keys(fromRequire).sort(),
        imported: Object.keys(named).sort(),
        isSame: whole === fromRequire && Object.keys(named).every((name) => named[name] === fromRequire[name])
      }));
    });`;
  const { required, imported, isSame } = JSON.parse(evaluate(code).stdout);
  assert.deepEqual(imported, required);
  assert.equal(isSame, true);
  assert.deepEqual(required, [
    'O_DIRECT',
    'O_DSYNC',
    'O_EXCL',
    'O_EXLOCK',
    'O_SYNC',
    'getAlignedBuffer',
    'getBlockDevice',
    'promises',
    'release',
    'setFSCTL_LOCK_VOLUME',
    'setF_NOCACHE',
    'setFlock'
  ]);
});

test('the packages contain only needed files, and their licences', () => {
  const files = (root) => fs.readdirSync(root).sort();
  const licenses = ['LICENSE-APACHE', 'LICENSE-MIT'];
  const entries = ['index.d.mts', 'index.d.ts', 'index.js', 'index.mjs'];
  assert.deepEqual(files(folder), [...licenses, 'README.md', 'bin', ...entries, 'lib', 'package.json']);
  assert.deepEqual(files(binary), [...licenses, 'README.md', 'direct-io.node', 'package.json']);
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'package.json')));
  assert.deepEqual(manifest.optionalDependencies, { [`${NAME}-${here().name}`]: manifest.version });
  assert.equal(manifest.scripts, undefined, 'nothing is run or compiled when it is installed');
});

test('the tree, and the tarball that npm packs of it, install by themselves', () => {
  const into = fs.mkdtempSync(path.join(os.tmpdir(), 'direct-io-tarball-'));
  for (const from of [PACKAGE, pack(PACKAGE, into)]) {
    const installed = projectWith(from);
    const code = `console.log(require('${NAME}').getAlignedBuffer(4096, 4096).length)`;
    const { stdout, stderr } = node(['-e', code], { cwd: installed });
    assert.deepEqual([stdout, stderr], ['4096\n', ''], from);
    fs.rmSync(installed, { recursive: true });
  }
  fs.rmSync(into, { recursive: true });
});

test('both commands are linked', () => {
  const command = (name) => spawnSync(path.join(project, 'node_modules', '.bin', name), ['--help'], { encoding: 'utf8' });
  for (const name of ['direct-io-benchmark', 'get-block-device']) {
    const { status, stdout } = command(name);
    assert.equal(status, 0);
    assert.match(stdout, new RegExp(`^Usage: ${name}`));
  }
});

function refused(code) {
  const { status, stderr } = evaluate(`try { ${code}; require('${NAME}') } catch (e) { console.error(e.code, e.message); process.exit(9) }`);
  assert.equal(status, 9, stderr);
  return stderr.trim();
}

test('a platform without a binary is one error with its name and a remedy', () => {
  const message = refused("Object.defineProperty(process, 'platform', { value: 'sunos' })");
  assert.match(message, /^ERR_NO_BINARY @writebench\/direct-io has no binary for sunos-\w+, only for linux-x64-gnu, /);
  assert.match(message, /build it: cd bindings\/node && npm ci && npm run build/);
  assert.equal(message.split('\n').length, 1);
});

test('a missing or broken binary is one error with the name of its package', () => {
  const aside = `${binary}-aside`;
  fs.renameSync(binary, aside);
  try {
    assert.match(refused(''), new RegExp(`needs the package ${NAME}-${here().name} on this platform, which is not installed`));
    fs.cpSync(aside, binary, { recursive: true });
    fs.writeFileSync(path.join(binary, 'direct-io.node'), 'no library');
    const message = refused('');
    assert.match(message, new RegExp(`${NAME}-${here().name} cannot be loaded on `));
    assert.equal(message.split('\n').length, 1);
  } finally {
    fs.rmSync(binary, { recursive: true, force: true });
    fs.renameSync(aside, binary);
  }
});

test('the examples of the README run', { skip: noLoopDevice() }, () =>
  withLoopDevice(4096, 16 << 20, (device) => {
    const text = fs.readFileSync(path.join(folder, 'README.md'), 'utf8');
    const examples = [...text.matchAll(/^```js\n(.*?)^```$/gms)].map(([, code]) => code);
    assert.ok(examples.length >= 6);
    for (const [index, code] of examples.entries()) {
      const file = path.join(project, `example-${index}.mjs`);
      fs.writeFileSync(file, code);
      const { status, stderr } = node([file, device]);
      assert.deepEqual([status, stderr], [0, ''], code);
    }
  })
);

// Types, as a project that has @types/node sees them.
const compiler = path.join(PACKAGE, 'node_modules', 'typescript', 'bin', 'tsc');

function compile(files, ...options) {
  const modules = path.join(project, 'node_modules');
  for (const name of ['@types', 'undici-types']) {
    if (!fs.existsSync(path.join(modules, name))) {
      fs.symlinkSync(path.join(PACKAGE, 'node_modules', name), path.join(modules, name), 'dir');
    }
  }
  for (const file of files) fs.copyFileSync(path.join(PACKAGE, 'test', 'types', file), path.join(project, file));
  const base = ['--strict', '--noEmit', '--target', 'es2022', '--types', 'node'];
  return node([compiler, ...base, ...options, ...files]);
}

test('right calls compile, as CommonJS, as an ES module and for a bundler', () => {
  // The declarations themselves are checked once.
  const nodenext = ['--module', 'nodenext'];
  const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler', '--skipLibCheck'];
  for (const [files, options] of [[['right.cts', 'right.mts'], nodenext], [['right.mts'], bundler]]) {
    const { status, stdout } = compile(files, ...options);
    assert.equal(status, 0, stdout);
  }
});

test('each wrong call is refused by the compiler, on its line', () => {
  const { status, stdout } = compile(['wrong.mts'], '--module', 'nodenext', '--skipLibCheck');
  assert.notEqual(status, 0);
  const lines = fs.readFileSync(path.join(project, 'wrong.mts'), 'utf8').split('\n');
  const wrong = lines.flatMap((line, index) => (line.includes('// wrong') ? [index + 1] : []));
  const found = [...stdout.matchAll(/^wrong\.mts\((\d+),/gm)].map(([, line]) => Number(line));
  assert.ok(wrong.length > 5);
  assert.deepEqual([...new Set(found)], wrong, stdout);
});
