// Makes 1 GiB in a loop without a turn of the event loop, releases each buffer, and says what was resident at most.
const { getAlignedBuffer, release } = require('../..');

const SIZE = 1 << 20;

const start = process.memoryUsage().rss;
const outcome = { made: 0, released: 0, most: 0 };
for (; outcome.made < 1024; outcome.made += 1) {
  const buffer = getAlignedBuffer(SIZE, 4096).fill(1);
  if (release(buffer) && buffer.length === 0) outcome.released += 1;
  if (outcome.made % 16 === 0) outcome.most = Math.max(outcome.most, process.memoryUsage().rss - start);
}
console.log(JSON.stringify(outcome));
