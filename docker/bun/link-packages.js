// Makes the packages of a set of the store visible to a session. What the session has made itself stays.
//   bun link-packages.js <node_modules of the set> <folder of links> <name> …
import { lstatSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [, , from, to, ...names] = process.argv;

function isOwn(place) {
  try {
    return !lstatSync(place).isSymbolicLink();
  } catch {
    return false;
  }
}

for (const name of names) {
  const place = join(to, name);
  if (isOwn(place)) continue;
  mkdirSync(dirname(place), { recursive: true });
  rmSync(place, { force: true });
  symlinkSync(join(from, name), place);
}
