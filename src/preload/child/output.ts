import { writeSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';

/** What takes the place of stdout and stderr: Node's own streams can be made into sockets. Nothing waits, so an exit loses nothing. */
export function output(fd: 1 | 2): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      let at = 0;
      while (at < chunk.length) at += writeSync(fd, chunk, at);
      done();
    },
  });
}

export function noInput(): Readable {
  return new Readable({
    read() {
      this.push(null);
    },
  });
}
