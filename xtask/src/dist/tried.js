const fs = require("node:fs");
const io = require("@writebench/direct-io");

const block = io.getAlignedBuffer(4096, 4096);
block.fill(7);
const fd = fs.openSync("written", fs.constants.O_CREAT | fs.constants.O_RDWR | io.O_DIRECT);
fs.writeSync(fd, block, 0, 4096, 0);
fs.closeSync(fd);
console.log(process.versions.node, fs.readFileSync("written").every((byte) => byte === 7));
