// What is published is not quite what is in a clone (docs/adr/0060): npm runs this around the packing of the package.
// Before, it builds the programs from nothing and cuts package.json to what an installed package needs; after, package.json
// is as it was. Usage: published.js make|undo
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const at = (name) => path.join(ROOT, name);
const MANIFEST = at('package.json');
/** The clone's own package.json, while the published one is in its place. */
const KEPT = at('package.json.kept');
/** Of no use to an installed package. A prepare script would even fail there, as there are no sources. */
const OF_THE_CLONE = ['scripts', 'devDependencies', 'overrides'];

function make() {
  undo();
  rmSync(at('dist'), { recursive: true, force: true });
  execFileSync('npm', ['run', 'build'], { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] });
  const text = readFileSync(MANIFEST, 'utf8');
  writeFileSync(KEPT, text);
  writeFileSync(MANIFEST, publishedManifest(text));
}

/** Also after a packing that was killed, whose changes are still here. */
function undo() {
  if (!existsSync(KEPT)) return;
  const kept = readFileSync(KEPT, 'utf8');
  const now = readFileSync(MANIFEST, 'utf8');
  if (now !== publishedManifest(kept) && now !== kept)
    throw new Error(
      'package.json was changed after a packing that was killed. Put what you need of it into package.json.kept, and rename that to package.json.',
    );
  renameSync(KEPT, MANIFEST);
}

function publishedManifest(text) {
  const entries = Object.entries(JSON.parse(text)).filter(([key]) => !OF_THE_CLONE.includes(key));
  return asJson(Object.fromEntries(entries));
}

function asJson(value) {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

const [order] = process.argv.slice(2);
if (order === 'make') make();
else if (order === 'undo') undo();
else throw new Error('Usage: published.js make|undo');
