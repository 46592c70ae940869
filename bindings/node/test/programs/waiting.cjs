// Asks while the pool's only thread is busy, and says in which order the answers came.
const { pbkdf2 } = require('node:crypto');

const { getBlockDevice, setFlock } = require('../..');

const order = [];
let turns = 0;
const turn = () => {
  turns += 1;
  if (order.length < 3) setTimeout(turn, 1);
  else console.log(JSON.stringify({ order, turns }));
};
pbkdf2('secret', 'salt', 1_000_000, 64, 'sha512', () => order.push('pbkdf2'));
getBlockDevice(0, () => order.push('getBlockDevice'));
setFlock(0, 0, () => order.push('setFlock'));
turn();
