import { execFileSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from 'vitest';
import { packagesOf } from '../../src/code/package-names.ts';
import { TOOLS } from '../../src/code/places.ts';
import { buildBunImage, docker } from '../support/worker-image.ts';

/** Code, and the packages that it needs. */
const CASES: readonly (readonly [string, readonly string[]])[] = [
  ['import a from "p"; a()', ['p']],
  ["import a from 'p'; a()", ['p']],
  ['import { a } from "p"; a()', ['p']],
  ['import * as a from "p"; a.b()', ['p']],
  ['import a, { b } from "p"; a(b)', ['p']],
  ['import { default as a } from "p"; a()', ['p']],
  ['import "p"', ['p']],
  ['import"p";', ['p']],
  ['import\n{\na\n}\nfrom\n"p"; a()', ['p']],
  ['import a from "p/sub/file.js"; a()', ['p']],
  ['import a from "@s/p"; a()', ['@s/p']],
  ['import a from "@s/p/sub"; a()', ['@s/p']],
  ['import a from "p/data.json" with { type: "json" }; a.b', ['p']],
  ['import a from "p?raw"; a()', ['p']],
  ['export { a } from "p"', ['p']],
  ['export * from "p"', ['p']],
  ['export * as a from "p"', ['p']],
  ['await import("p")', ['p']],
  ['import("p").then(console.log)', ['p']],
  ['await import(`p`)', ['p']],
  ['await import("p" + "q")', ['pq']],
  ['const a = "p"; await import(process.env[a]!)', []],
  ['require("p")', ['p']],
  ['const { a } = require("p"); a()', ['p']],
  ['try { require("p") } catch {}', ['p']],
  ['function f() { return require("p") } f()', ['p']],
  ['module.require("p")', ['p']],
  ['require.resolve("p")', ['p']],
  ['import.meta.resolve("p")', ['p']],
  ['import a = require("p"); a()', ['p']],
  ['import type { A } from "p"; let a: A', []],
  ['import type A from "p"; let a: A', []],
  ['import { type A } from "p"; let a: A', []],
  ['import { type A, b } from "p"; b()', ['p']],
  ['export type { A } from "p"', []],
  ['let a: import("p").A', []],
  ['type A = typeof import("p")', []],
  ['import { A } from "p"; let a: A', []],
  ['import a from "p"', []],
  ['declare module "p" { export const a: number }', []],
  ['const s = "import a from \'p\'"; console.log(s)', []],
  ['const s = \'require("p")\'; console.log(s)', []],
  ['const s = `import a from "p"`; console.log(s)', []],
  ['const s = `${require("p")}`; console.log(s)', ['p']],
  ['// import a from "p"', []],
  ['/* require("p") */', []],
  ['/**\n * @example import a from "p"\n */', []],
  ['const r = /require("p")/; console.log(r)', []],
  ['const r = 4 / 2; require("p"); // " /', ['p']],
  ['const o = { require: (a: string) => a }; o.require("p")', []],
  ['const o = { import: 1 }; console.log(o.import, "p")', []],
  ['import fs from "fs"; fs.a', []],
  ['import fs from "node:fs"; fs.a', []],
  ['import fs from "fs/promises"; fs.a', []],
  ['import { sql } from "bun"; sql', []],
  ['import { Database } from "bun:sqlite"; new Database()', []],
  ['import ws from "ws"; import undici from "undici"; ws(undici)', []],
  ['import a from "./a"; import b from "../b"; import c from "/c"; a(b, c)', []],
  ['import a from "https://example.org/a.js"; a()', []],
  ['import a from "data:text/javascript,export default 1"; console.log(a)', []],
  ['import a from "p"; const x = <any>a; x()', ['p']],
  ['enum E { A } import a from "p"; a(E.A)', ['p']],
  ['namespace N { export const a = 1 } import b from "p"; b(N.a)', ['p']],
  ['abstract class A<T> { constructor(private readonly a: T) {} } import b from "p"; b(A)', ['p']],
  ['import a from "p"; import b from "q"; a(b)', ['p', 'q']],
  ['import a from "p"; import b from "p/c"; a(b)', ['p']],
  ['this is no program import "p"', []],
  ['', []],
];

/** Runs the scanner of the image on each, in one container. */
const DRIVER = `const { cases, tool } = JSON.parse(require('fs').readFileSync(0, 'utf8'));
for (const [index, code] of cases.entries()) {
  const file = '/tmp/' + index + '.ts';
  require('fs').writeFileSync(file, code);
  process.stdout.write(Bun.spawnSync(['bun', tool, file, '/packages/node_modules']).stdout);
}`;

describe.skipIf(docker.why !== '')(`what a program imports${docker.why}`, () => {
  let found: { readonly imports: string[] }[] = [];
  beforeAll(async () => {
    const image = await buildBunImage();
    const args = ['run', '--rm', '-i', '--network=none', '--read-only', '--tmpfs=/tmp', image, 'bun', '-e', DRIVER];
    const input = JSON.stringify({ cases: CASES.map(([code]) => code), tool: TOOLS.scanImports });
    const lines = execFileSync('docker', args, { input, encoding: 'utf8' }).trim().split('\n');
    found = lines.map((line) => JSON.parse(line) as { imports: string[] });
  });

  it.each(CASES.map(([code, packages], index) => [code, packages, index] as const))(
    '%j needs %j',
    (_, packages, index) => {
      expect(packagesOf(found[index]?.imports ?? ['not scanned'])).toEqual(packages);
    },
  );
});
