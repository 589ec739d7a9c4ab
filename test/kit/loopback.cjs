/**
 * Preloaded into a program that would listen on all interfaces. The program then listens on the loopback interface
 * only, and reports its port to the process that started it.
 */
const { Server } = require('node:net');
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  this.once('listening', () => process.send?.({ port: this.address().port }));
  const callback = rest.find((given) => typeof given === 'function');
  return typeof port === 'number' || /^\d+$/.test(String(port))
    ? listen.call(this, Number(port), '127.0.0.1', callback)
    : listen.call(this, port, ...rest);
};
