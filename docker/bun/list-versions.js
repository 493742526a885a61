// The versions of installed packages, as JSON on stdout. One that is not there is left out.
//   bun list-versions.js <node_modules> <name> …
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const [, , folder, ...names] = process.argv;

function versionOf(name) {
  try {
    return JSON.parse(readFileSync(join(folder, name, 'package.json'), 'utf8')).version;
  } catch {
    return undefined;
  }
}

process.stdout.write(JSON.stringify(Object.fromEntries(names.map((name) => [name, versionOf(name)]))));
