// Releases a buffer that http2 still holds for a peer that does not read, and one that nobody holds.
const { once } = require('node:events');
const http2 = require('node:http2');
const { setTimeout: wait } = require('node:timers/promises');

const { getAlignedBuffer, release } = require('../..');

async function main() {
  const server = http2.createServer().on('stream', (stream) => stream.pause().respond());
  await once(server.listen(0), 'listening');
  const client = http2.connect(`http://localhost:${server.address().port}`);
  const request = client.request({ ':method': 'POST' });
  await once(request, 'ready');
  const buffer = getAlignedBuffer(1 << 20, 4096).fill(7);
  request.write(buffer);
  await wait(200);
  console.log(JSON.stringify({ isReleased: release(buffer), length: buffer.length }));
  process.exit();
}

main();
