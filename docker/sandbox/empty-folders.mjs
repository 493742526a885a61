// Empties folders, whatever their user has made in them: closed folders, links, special files, a tree of any depth. Each
// folder is moved to the top before it is looked into, so that no path gets long and few descriptors are open.
import { randomBytes } from 'node:crypto';
import { chmodSync, opendirSync, renameSync, rmdirSync, unlinkSync } from 'node:fs';

const OPEN = 0o700;

function emptyFolder(top) {
  chmodSync(top, OPEN);
  const prefix = `.empty-${randomBytes(8).toString('hex')}-`;
  const waiting = [];
  let moved = 0;
  const clear = (folder) => {
    const found = opendirSync(folder, { encoding: 'buffer' });
    for (let entry = found.readSync(); entry !== null; entry = found.readSync()) {
      // It was moved to here a moment ago.
      if (folder === top && entry.name.toString('latin1').startsWith(prefix)) continue;
      const file = Buffer.concat([Buffer.from(`${folder}/`), entry.name]);
      if (!entry.isDirectory()) {
        unlinkSync(file);
        continue;
      }
      const next = `${top}/${prefix}${(moved += 1)}`;
      // A folder that its user cannot write cannot be moved either.
      chmodSync(file, OPEN);
      renameSync(file, next);
      waiting.push(next);
    }
    found.closeSync();
  };
  clear(top);
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    clear(folder);
    rmdirSync(folder);
  }
}

for (const folder of process.argv.slice(2)) emptyFolder(folder);
