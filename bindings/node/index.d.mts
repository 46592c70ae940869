import * as directIo from './index.js';

export * from './index.js';
export default directIo;
