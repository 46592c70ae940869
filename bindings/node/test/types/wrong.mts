import { O_NONSENSE, getAlignedBuffer, getBlockDevice, promises, release, setFlock } from '@writebench/direct-io'; // wrong: no such name

console.log(O_NONSENSE);
getAlignedBuffer(4096); // wrong: no alignment
getAlignedBuffer('4096', 4096); // wrong: a string
release(4096); // wrong: no buffer
getBlockDevice(0); // wrong: no callback
getBlockDevice(0, (error, device) => device.sectors); // wrong: no such fact
setFlock(0, 2, () => {}); // wrong: neither 0 nor 1
setFlock(0, 1); // wrong: no callback
const device: number = await promises.getBlockDevice(0); // wrong: an object
await promises.setFlock({}, 1); // wrong: no FileHandle
console.log(device);
