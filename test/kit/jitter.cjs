/**
 * Loaded into the programs of a test run by TEST_JITTER=1. It delays some of the data that a program sends to a
 * database, a client or a service by some milliseconds, as on a busy network. Each connection keeps its order. A wrong
 * assumption about the order of concurrent work then fails here, and not once in a hundred runs.
 */
'use strict';
const { Socket } = require('node:net');

/** The share of writes that are delayed. */
const heldBack = 1 / 6;
const holdMs = () => 5 + Math.random() ** 2 * 120;

for (const name of ['_write', '_writev']) {
  const write = Socket.prototype[name];
  Socket.prototype[name] = function late(...given) {
    // The program's own output is sent at once, as pipes do. Otherwise the last output of a process would be lost.
    if (this._isStdio || Math.random() > heldBack) return write.apply(this, given);
    setTimeout(() => {
      if (this.destroyed) given.at(-1)(new Error('The connection was closed.'));
      else write.apply(this, given);
    }, holdMs());
    return undefined;
  };
}
