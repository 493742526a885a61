import { expect, it } from 'vitest';
import { withLines } from './graph-lines.ts';

const JSON_TEXT = `{ // of people
  "feature": "login",
  "tasks": [
    { "id": "A",
      "files": {
        "create": [
          "/etc/passwd"
        ]
      },
      "depends_on": [] },
    { "title": "B" }
  ]
}`;
const YAML_TEXT = 'feature: login\ntasks:\n  - id: A\n    level: -1\n  - title: B\n';

it.each([
  ['g.json', JSON_TEXT, 'tasks[0].files.create[0]: is absolute', 'tasks[0].files.create[0] (line 7): is absolute'],
  ['g.json', JSON_TEXT, 'tasks[0].depends_on: no such key', 'tasks[0].depends_on (line 10): no such key'],
  ['g.json', JSON_TEXT, 'tasks[1].id: is missing', 'tasks[1].id (line 11): is missing'],
  ['g.yaml', YAML_TEXT, 'tasks[0].level: must be 0 or more', 'tasks[0].level (line 4): must be 0 or more'],
  ['g.yaml', YAML_TEXT, 'tasks[1].id: is missing', 'tasks[1].id (line 5): is missing'],
  ['g.yaml', 'feature: x\n', 'tasks: is missing', 'tasks: is missing'],
  ['g.json', JSON_TEXT, 'task graph: expected an object', 'task graph: expected an object'],
  ['g.json', '[', 'tasks: is missing', 'tasks: is missing'],
])('a problem in %s has its line: %#', (file, text, problem, told) => {
  expect(withLines(file, text, [problem])).toEqual([told]);
});
