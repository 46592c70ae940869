// Ends workers while they make buffers, and says how much of their memory stays.
const { once } = require('node:events');
const { setTimeout: wait } = require('node:timers/promises');
const { Worker, isMainThread, parentPort } = require('node:worker_threads');

const SIZE = 8 << 20;
const WORKERS = 12;

function work() {
  const { getAlignedBuffer, release } = require('../..');
  parentPort.postMessage('ready');
  for (;;) release(getAlignedBuffer(SIZE, 4096).fill(1));
}

async function endOne() {
  const worker = new Worker(__filename);
  const exit = once(worker, 'exit');
  await once(worker, 'message');
  await wait(20);
  await worker.terminate();
  await exit;
}

async function main() {
  // The first ones leave what threads and heaps take once.
  for (let count = 0; count < 4; count += 1) await endOne();
  const start = process.memoryUsage().rss;
  for (let count = 0; count < WORKERS; count += 1) await endOne();
  console.log(JSON.stringify({ stays: process.memoryUsage().rss - start, oneEach: WORKERS * SIZE }));
}

if (isMainThread) main();
else work();
