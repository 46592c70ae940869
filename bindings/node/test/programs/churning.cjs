// Makes buffers and forgets them at once, without ever asking for a collection.
const { setImmediate: turn } = require('node:timers/promises');

const { getAlignedBuffer } = require('../..');

const SIZE = 1 << 20;

async function main() {
  const start = process.memoryUsage().rss;
  let most = 0;
  const count = 2000;
  for (let index = 0; index < count; index += 1) {
    getAlignedBuffer(SIZE, 4096).fill(1);
    if (index % 16 === 0) await turn();
    if (index % 100 === 0) most = Math.max(most, process.memoryUsage().rss - start);
  }
  console.log(JSON.stringify({ made: count * SIZE, most }));
}

main();
