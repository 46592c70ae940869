// Makes ten thousand buffers and drops them, five times, and says what memory is held when.
const { setImmediate: turn } = require('node:timers/promises');

const { getAlignedBuffer } = require('../..');

// The memory of external buffers is given back on a later turn of the loop.
async function collect() {
  for (let turns = 0; turns < 4; turns += 1) {
    global.gc();
    await turn();
  }
}

async function main() {
  getAlignedBuffer(8, 8);
  await collect();
  const [before, rss] = [process.memoryUsage().external, { before: process.memoryUsage().rss, held: [] }];
  let held;
  for (let round = 0; round < 5; round += 1) {
    const buffers = Array.from({ length: 10_000 }, () => getAlignedBuffer(16384, 4096).fill(1));
    held = process.memoryUsage().external;
    rss.held.push(process.memoryUsage().rss);
    if (buffers.some((buffer) => buffer[16383] !== 1)) throw new Error('a buffer has lost its bytes');
    buffers.length = 0;
    await collect();
  }
  console.log(JSON.stringify({ before, held, after: process.memoryUsage().external, rss }));
}

main();
