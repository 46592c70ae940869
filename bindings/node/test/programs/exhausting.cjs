// Asks for more memory than a limit leaves.
const { execFileSync } = require('node:child_process');

const { getAlignedBuffer } = require('../..');

// The address space that node has reserved already, and a little more.
const [pages] = require('node:fs').readFileSync('/proc/self/statm', 'utf8').split(' ').map(Number);
execFileSync('prlimit', ['--pid', String(process.pid), `--as=${pages * 4096 + (256 << 20)}`]);
try {
  getAlignedBuffer(2 ** 31 - 1, 4096);
} catch (error) {
  console.log(error.code, error.message);
}
