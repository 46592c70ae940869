// Throws in a callback.
const { getBlockDevice } = require('../..');

const [fd, handled] = process.argv.slice(2);
process.on('unhandledRejection', (error) => console.log(`unhandled rejection: ${error.message}`));
if (handled) process.on('uncaughtException', (error) => console.log(`uncaught: ${error.message}`));
getBlockDevice(Number(fd), () => {
  throw new Error('mine');
});
