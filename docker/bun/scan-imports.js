// What a program imports, as JSON on stdout: {"imports": [...], "own": [...], "missing": [...]}. Bun's own modules are left
// out; "own" has those whose package the session has made itself in its folder of packages, "missing" those whose package is
// not there. A program with a wrong syntax imports nothing.
//   bun scan-imports.js <file> <folder of links to packages>
import { lstatSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { extname, join } from 'node:path';

const [, , file, packages] = process.argv;

/** What is resolved and not loaded must be there as well. */
const DEFINED = { 'require.resolve': 'require', 'import.meta.resolve': 'require', 'Bun.resolveSync': 'require' };

/** Of files that Bun finds by a name without one. */
const EXTENSIONS = ['.tsx', '.jsx', '.ts', '.mjs', '.js', '.cjs', '.json'];

function importsOf(code, loader) {
  try {
    // In two steps: the first takes types away, and imports that only types use.
    const plain = new Bun.Transpiler({
      loader,
      target: 'bun',
      define: DEFINED,
      trimUnusedImports: loader === 'ts',
    }).transformSync(code);
    return new Bun.Transpiler({ loader: 'js', target: 'bun' }).scanImports(plain).map(({ path }) => path);
  } catch {
    return [];
  }
}

/** Whether the session has made it itself, or it is a link, or it is not there. */
function kindOf(specifier) {
  const parts = specifier.replace(/\?.*$/s, '').split('/');
  const length = specifier.startsWith('@') ? 2 : 1;
  const place = join(packages, ...parts.slice(0, length));
  // Bun takes a file before it looks into a folder of the same name.
  const isFile = parts.length === length && EXTENSIONS.some((extension) => kindAt(place + extension) !== 'missing');
  return isFile ? 'own' : kindAt(place);
}

function kindAt(place) {
  try {
    return lstatSync(place).isSymbolicLink() ? 'link' : 'own';
  } catch {
    return 'missing';
  }
}

const found = importsOf(readFileSync(file, 'utf8'), extname(file) === '.ts' ? 'ts' : 'jsx');
const imports = [...new Set(found)].filter((specifier) => !isBuiltin(specifier));
const ofKind = (kind) => imports.filter((specifier) => kindOf(specifier) === kind);
// To load process.stdout takes longer than all of the above.
const answer = JSON.stringify({ imports, own: ofKind('own'), missing: ofKind('missing') });
await Bun.write(Bun.stdout, `${answer}\n`);
