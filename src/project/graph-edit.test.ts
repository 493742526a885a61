import { describe, expect, it } from 'vitest';
import { withLevels } from './graph-edit.ts';

describe('levels are written, and all else stays as it is', () => {
  it('in JSON with comments', () => {
    const text = `{
  // What is built.
  "feature": "login", "tasks": [
    { "id": "A", "level": 1, "files": { "create": ["a.ts"] } }, /* first */
    {
      "id": "B", // second
      "title": "B // not a comment",
      "level": 1,
    },
    {
      "id": "C", // third
      "title": "C"
    },
    { "title": "D", "id": "D" },
    {
      "id": "E", // last
    },
  ],
}
`;
    const levels = new Map([
      [0, 3],
      [1, 22],
      [2, 4],
      [3, 5],
      [4, 6],
    ]);
    expect(withLevels('x.json', text, levels)).toBe(
      text
        .replace('"id": "A", "level": 1', '"id": "A", "level": 3')
        .replace('"level": 1,\n', '"level": 22,\n')
        .replace('// third\n', '// third\n      "level": 4,\n')
        .replace('"id": "D"', '"id": "D", "level": 5')
        .replace('"id": "E"', '"id": "E",\n      "level": 6'),
    );
  });

  it('in YAML', () => {
    const text = `# What is built.
feature: login
tasks:
  - id: A # first
    title: "A: one"
  - title: B
    id: B
    level: 1   # too low
    files: { create: [b.ts] }
  - { id: C, title: C }
  - id: D
    level:
  -
    "id": E`;
    const levels = new Map([
      [0, 2],
      [1, 3],
      [2, 4],
      [3, 5],
      [4, 6],
    ]);
    expect(withLevels('x.yaml', text, levels)).toBe(
      text
        .replace('id: A # first\n', 'id: A # first\n    level: 2\n')
        .replace('level: 1 ', 'level: 3 ')
        .replace('id: C,', 'id: C, level: 4,')
        .replace('level:\n', 'level: 5\n')
        .replace('"id": E', '"id": E\n    "level": 6'),
    );
  });

  it.each([
    ['x.yaml', 'a: &a { id: A }\ntasks: [*a]\n'],
    ['x.yaml', 'tasks: nothing\n'],
    ['x.json', '{ "tasks": [{ "title": "no id" }] }'],
  ])('unless there is no place for one, as in %s: %j', (file, text) => {
    expect(withLevels(file, text, new Map([[0, 2]]))).toBeUndefined();
  });
});
