/**
 * Loaded into the programs of a test run by TEST_JITTER=1: now and then what a program sends to a database, a client or a
 * service leaves some milliseconds late, as on a busy network, each connection in order. What a test takes for granted of the
 * order of things that run beside each other then fails, here and not once in a hundred runs.
 */
'use strict';
const { Socket } = require('node:net');

/** One write in six is held back, for so long, in ms. */
const heldBack = 1 / 6;
const holdMs = () => 5 + Math.random() ** 2 * 120;

for (const name of ['_write', '_writev']) {
  const write = Socket.prototype[name];
  Socket.prototype[name] = function late(...given) {
    // Its own output goes at once, as pipes do: what a process says before it ends would be lost.
    if (this._isStdio || Math.random() > heldBack) return write.apply(this, given);
    setTimeout(() => {
      if (this.destroyed) given.at(-1)(new Error('The connection was closed.'));
      else write.apply(this, given);
    }, holdMs());
    return undefined;
  };
}
