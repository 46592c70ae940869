// Asks for many buffers of a node that allows none, and says how it is refused and what memory stays.
const { getAlignedBuffer } = require('../..');

const before = process.memoryUsage().rss;
let refusal;
for (let count = 0; count < 1000; count += 1) {
  try {
    getAlignedBuffer(1 << 20, 4096);
  } catch (error) {
    refusal = error;
  }
}
const kept = process.memoryUsage().rss - before;
console.log(JSON.stringify({ code: refusal?.code, message: refusal?.message, kept }));
