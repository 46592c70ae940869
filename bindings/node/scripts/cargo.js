// Builds the addon with cargo, which reports its path.
'use strict';

const { spawnSync } = require('node:child_process');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '../../..');

function artifact(stdout) {
  const messages = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const library = messages.find((one) => one.reason === 'compiler-artifact' && one.target.name === 'direct_io_node');
  return library.filenames.find((name) => /\.(so|dylib|dll)$/.test(name));
}

// The first error in cargo's output, or else its last line.
function reason(stderr) {
  const lines = stderr.trim().split('\n').map((line) => line.trim());
  return lines.find((line) => /^error|unable to find|cannot find/.test(line)) ?? lines.at(-1);
}

/** Returns the library as `file`, or the reason as `why` and the output as `log`. */
function build(command, words, { env = {}, isQuiet = false } = {}) {
  const format = '--message-format=json-render-diagnostics';
  const done = spawnSync('cargo', [command, '--package', 'direct-io-node', format, ...words], {
    cwd: ROOT,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', isQuiet ? 'pipe' : 'inherit']
  });
  if (done.error) {
    const why = done.error.code === 'ENOENT' ? 'cargo is not in PATH: https://rustup.rs' : done.error.message;
    return { why, log: why };
  }
  if (done.status !== 0) return { why: reason(done.stderr ?? 'cargo has said why'), log: done.stderr };
  return { file: artifact(done.stdout) };
}

module.exports = { build };
