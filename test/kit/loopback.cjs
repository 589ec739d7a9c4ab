/** Preloaded into a program that would listen on all interfaces: it listens on this machine's own only. */
const { Server } = require('node:net');
const { listen } = Server.prototype;
Server.prototype.listen = function (port, ...rest) {
  const callback = rest.find((given) => typeof given === 'function');
  return typeof port === 'number' || /^\d+$/.test(String(port))
    ? listen.call(this, Number(port), '127.0.0.1', callback)
    : listen.call(this, port, ...rest);
};
