// Workers make buffers, hand over copies of them, and end: by themselves, or ended while requests are under way.
// Whether the main thread has the addon before them or only after all have ended is for the caller to choose.
const fs = require('node:fs');
const { once } = require('node:events');
const { Worker, isMainThread, parentPort, workerData } = require('node:worker_threads');

const SIZE = 1 << 18;

function work() {
  const { getAlignedBuffer, setFlock } = require('../..');
  const buffers = Array.from({ length: 50 }, () => getAlignedBuffer(SIZE, 4096).fill(workerData.mark));
  parentPort.postMessage(buffers[0]);
  if (!workerData.stays) return;
  globalThis.kept = buffers;
  const fd = fs.openSync(__filename);
  const again = () => setFlock(fd, 0, again);
  for (let requests = 0; requests < 32; requests += 1) again();
}

async function main() {
  const early = process.argv[2] === 'main-first' ? require('../..') : undefined;
  const own = early?.getAlignedBuffer(SIZE, 4096);
  const outcome = { copies: 0, terminated: 0 };
  for (let mark = 1; mark <= 16; mark += 1) {
    const stays = mark % 2 === 0;
    const worker = new Worker(__filename, { workerData: { mark, stays } });
    const exit = once(worker, 'exit');
    const [copy] = await once(worker, 'message');
    if (stays) {
      await worker.terminate();
      outcome.terminated += 1;
    } else if ((await exit)[0] === 0 && copy.length === SIZE && copy.every((byte) => byte === mark)) {
      outcome.copies += 1;
    }
  }
  outcome.ownStillZero = own === undefined || own.every((byte) => byte === 0);
  outcome.afterwards = require('../..').getAlignedBuffer(SIZE, 4096).fill(7).every((byte) => byte === 7);
  console.log(JSON.stringify(outcome));
}

if (isMainThread) main();
else work();
