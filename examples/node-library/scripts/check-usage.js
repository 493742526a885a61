// A gate: whatever the library exports is described in USAGE.md.
import { readFileSync } from 'node:fs';

const usage = readFileSync(new URL('../USAGE.md', import.meta.url), 'utf8');
const names = Object.keys(await import('../src/index.js'));
const missing = names.filter((name) => !usage.includes(`\`${name}\``));
if (missing.length > 0) {
  console.error(`USAGE.md does not describe: ${missing.join(', ')}`);
  process.exitCode = 1;
}
