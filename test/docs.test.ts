import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { createAgent } from '../src/agents/index.ts';
import type { CommandDefinition } from '../src/cli/command.ts';
import { COMMANDS } from '../src/cli/program.ts';
import { LACKS } from '../src/engines/index.ts';
import { CLAUDE_CODE_VERSION } from '../src/images/index.ts';
import { brokenLinks, documentsIn } from './support/links.ts';
import { testNames } from './support/test-names.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Documents that name many files: their paths must not be out of date. */
const DOCUMENTS = ['docs/dependencies.md', 'docs/serve-requirements.md', 'docs/walk.md'];
const PATH = /`((?:bench|bin|docker|docs|schemas|scripts|src|test)\/[\w./-]*)`/g;

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const missing = (paths: readonly string[]): string[] => paths.filter((found) => !existsSync(path.join(ROOT, found)));

const pathsIn = (text: string): string[] => [...text.matchAll(PATH)].map(([, found = '']) => found);

/** The folders with which lines of the map begin. */
function foldersOfMap(): string[] {
  const map = /## Map\n```\n([\s\S]*?)```/.exec(read('AGENTS.md'))?.[1] ?? '';
  return [...map.matchAll(/^([\w.][\w./-]*\/)/gm)].map(([, found = '']) => found);
}

describe('documents', () => {
  it.each(DOCUMENTS)('%s names only paths that exist', (document) => {
    const found = pathsIn(read(document));
    expect(found).not.toEqual([]);
    expect(missing(found)).toEqual([]);
  });

  it('have no link that leads nowhere', () => {
    const folders = ['docs', 'examples', 'bench', 'docker'].flatMap((folder) => documentsIn(ROOT, folder));
    expect(brokenLinks(ROOT, ['README.md', 'CHANGELOG.md', 'AGENTS.md', ...folders])).toEqual([]);
  });

  it('the map in AGENTS.md has every folder of src, and only folders that exist', () => {
    const folders = foldersOfMap();
    expect(missing(folders)).toEqual([]);
    const rooms = readdirSync(path.join(ROOT, 'src')).map((room) => `src/${room}/`);
    expect(rooms.filter((room) => !folders.includes(room))).toEqual([]);
  });
});

it('every test that the promises of the server name is there', () => {
  const rows = [...read('docs/serve-requirements.md').matchAll(/^\| .* \| `([\w/.-]+\.test\.ts)` +\| `(.*)` +\|$/gm)];
  expect(rows.length).toBeGreaterThan(60);
  const isThere = (file: string, name: string): boolean =>
    existsSync(path.join(ROOT, file)) && testNames(read(file)).has(name);
  expect(rows.filter(([, file = '', name = '']) => !isThere(file, name)).map(([row]) => row)).toEqual([]);
});

it('the names of tests are those of what runs, with the rows of a table', () => {
  const text = `
    describe('a group', () => {
      it('one', () => expect('no name').toBe('x'));
      it.skip('left out', () => undefined);
      it.todo('to do');
      it.concurrent.each([['a', 1], ['b', 2]] as const)('%s of %s', () => undefined);
      it.each([['c', 'd']])("%s and %j", () => undefined);
      it.each(ROWS)('of %s', () => undefined);
    });
    describe.skip('a group that is left out', () => { it('in it', () => undefined); });
    describe.skipIf(why !== '')(\`on a condition\${why}\`, () => { it.each(['e'])(\`ends %s\`, () => undefined); });
    const it2 = other('not a test');`;
  const names = 'a group|one|%s of %s|a of %s|b of %s|%s and %j|c and %j|of %s|on a condition${…}|ends %s|ends e';
  expect([...testNames(text)].join('|')).toBe(names);
});

/** The numbered files of one part of the walk. */
const rowsOf = (part: string): [number: number, file: string][] =>
  [...part.matchAll(/^\| (\d+) \| `([^`]+)` \|/gm)].map(([, number, file = '']) => [Number(number), file]);

it('docs/engines.md explains all that an engine may lack', () => {
  const explained = [...read('docs/engines.md').matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, lack]) => lack);
  expect(explained).toEqual(Object.keys(LACKS));
});

describe('docs/claude.md', () => {
  const text = read('docs/claude.md');

  it('has every argument and variable that Claude Code is started with', () => {
    const { args, env } = createAgent({ kind: 'claude', command: 'claude', model: 'sonnet', args: [] }, {}).command(
      '',
      {
        run: null,
        promptFile: '',
      },
    );
    const words = args.filter((word) => word !== 'sonnet').flatMap((word) => word.split(','));
    const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
    expect(words.length).toBeGreaterThan(10);
    expect([...words, ...variables].filter((word) => !text.includes(word))).toEqual([]);
  });

  it('names the version that the image has and CI tests', () => {
    expect(text).toContain(`Claude Code ${CLAUDE_CODE_VERSION} is the version in the worker image`);
    expect(read('.ci/run')).toContain(`CLAUDE_CODE_VERSION=${CLAUDE_CODE_VERSION}\n`);
  });
});

/** Blocks of code in these languages. */
const blocksIn = (text: string, language: string): string[] =>
  [...text.matchAll(new RegExp(`^\`\`\`(?:${language})\\n([\\s\\S]*?)^\`\`\``, 'gm'))].map(([, block = '']) => block);

it('docs/ci.md has workflows that are YAML, with this version', () => {
  const blocks = blocksIn(read('docs/ci.md'), 'yaml');
  expect(blocks.length).toBeGreaterThan(3);
  for (const block of blocks) expect(Object.keys(parse(block) as object)).not.toEqual([]);
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const named = blocks.flatMap((block) => block.match(/(?<=mahabharatha[@-])\d+\.\d+\.\d+/g) ?? []);
  expect(new Set(named)).toEqual(new Set([version]));
});

it('documents use only commands that there are, with options that they have', () => {
  const flagsOf = new Map(
    COMMANDS.flatMap(({ definition }: { readonly definition: CommandDefinition }) => {
      const given = Object.values(definition.options);
      const flags = ['--help', ...given.flatMap(([words]) => words.split(/[ ,]+/))];
      return [definition.name, definition.alias ?? definition.name].map((name) => [name, flags] as const);
    }),
  );
  const documents = [...documentsIn(ROOT, 'docs'), ...documentsIn(ROOT, 'examples')];
  const blocks = ['README.md', ...documents].flatMap((document) => blocksIn(read(document), 'sh|yaml'));
  const calls = blocks.flatMap((text) => [...text.matchAll(/(?:^|[ ;&(])mahabharatha ([a-z]+)(?=\s)([^\n#|;&)]*)/gm)]);
  expect(calls.length).toBeGreaterThan(100);
  const unknown = calls.filter(([, name = '', rest = '']) => {
    const [own = ''] = rest.split(' -- ');
    const used = own.match(/(?<=\s)--?[a-z][a-z-]*/g) ?? [];
    return !used.every((flag) => flagsOf.get(name)?.includes(flag)) || !flagsOf.has(name);
  });
  expect(unknown.map(([call]) => call)).toEqual([]);
});

describe('the walk of one task', () => {
  const parts = read('docs/walk.md').split(/^## /m).slice(1);

  it('numbers its files from 1 without a gap, counts them, and passes no file twice', () => {
    const rows = parts.flatMap(rowsOf);
    expect(rows.map(([number]) => number)).toEqual(rows.map((_, index) => index + 1));
    expect(new Set(rows.map(([, file]) => file)).size).toBe(rows.length);
    const counts = parts.map((part) => Number(/^[^\n]*: (\d+) files$/m.exec(part)?.[1]));
    expect(counts).toEqual(parts.map((part) => rowsOf(part).length));
  });

  it('passes at most 35 files before the container is created', () => {
    const [toContainer = ''] = parts;
    expect(toContainer).toMatch(/^To the container/);
    expect(rowsOf(toContainer).length).toBeLessThanOrEqual(35);
    expect(rowsOf(toContainer).at(-1)?.[1]).toMatch(/^src\/engines\/docker\//);
  });
});
