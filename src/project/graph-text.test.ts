import { expect, it } from 'vitest';
import { graphTextFor, readGraphText } from './graph-text.ts';

const VALUE = { feature: 'login', tasks: [{ id: '1.10', dependencies: [] }] };

it.each([
  ['graph.json', JSON.stringify(VALUE)],
  [
    'graph.json',
    '{ // people write comments\n "feature": "login", "tasks": [{ "id": "1.10", "dependencies": [], }], }',
  ],
  ['graph.yaml', '# and here\nfeature: login\ntasks:\n  - id: "1.10"\n    dependencies: []\n'],
  ['graph.yml', graphTextFor('graph.yml', VALUE)],
  ['graph', graphTextFor('graph', VALUE)],
])('a graph is read from %s: %j', (file, text) => {
  const read = readGraphText(file, text);
  expect(read).toMatchObject({ ok: true, value: VALUE });
  expect(read.ok && JSON.parse(read.json)).toEqual(VALUE);
});

/** A few lines that stand for millions. */
function bomb(): string {
  const lines = 'bcdefgh'
    .split('')
    .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefg'[index]}`).join(', ')}]`);
  return ['a: &a [x]', ...lines].join('\n');
}

it('a task of YAML takes over what others share with it', () => {
  const text = 'shared: &shared\n  level: 1\n  run: make\ntasks:\n  - <<: *shared\n    id: A\n    level: 2\n';
  expect(readGraphText('x.yaml', text)).toMatchObject({ value: { tasks: [{ id: 'A', level: 2, run: 'make' }] } });
});

it('a colon in a text makes no key of it', () => {
  const text = '{ "a": "\\"b\\": {", "c": ["a", "a"], "d": { "a": 1 }, "e": "a" }';
  expect(readGraphText('x.json', text)).toMatchObject({ ok: true });
});

it('plain JSON stays as it is written', () => {
  expect(readGraphText('x.json', '{"feature" : "login"}')).toMatchObject({ json: '{"feature" : "login"}' });
});

it.each([
  ['x.json', '{\n "a": 1\n "b": 2 }', /^line 3, column 2: it is not JSON: /],
  ['x.json', 'feature: login', /^line 1, column 1: it is not JSON: /],
  ['x.json', `${'['.repeat(5000)}${']'.repeat(5000)}`, /^it is nested more than 100 levels deep/],
  ['x.yaml', 'a: 1\nb: [1\n', /^line \d, column \d: /],
  ['x.yaml', 'a: 1\na: 2\n', /^line 2, column 1: .*unique/],
  ['x.json', ' \n', /^it is empty; /],
  ['x.yaml', '', /^it is empty; /],
  [
    'x.json',
    '{ "a": [{ "b": 1 }, { "b": 2,\n "c": "{", "b": 3 }] }',
    /^line 2: "b" is there already in the same object/,
  ],
  ['x.yaml', 'a: 1\n---\nb: 1\n', /^line 2, column 1: a second document begins here/],
  ['x.yaml', bomb(), /^its aliases .* make too much of it/],
  ['x.yaml', 'files: [*.ts]\n', /^line 1, column 9: .*put quotes around a text that begins with a star/],
])('what is wrong with %s, %j, is told with its place', (file, text, problem) => {
  expect(readGraphText(file, text)).toMatchObject({
    ok: false,
    problems: expect.arrayContaining([expect.stringMatching(problem)]),
  });
});

it.each(['g.json', 'g.yaml'])('a text that is too long is refused before it is read: %s', (file) => {
  const read = (length: number): unknown => readGraphText(file, `{"feature":"${'x'.repeat(length - 14)}"}`);
  expect(read(6_000_000)).toMatchObject({ ok: true });
  expect(read(20_000_000)).toEqual({
    ok: false,
    problems: [expect.stringContaining('20,000,000 characters, and may have 6,000,000')],
  });
});
