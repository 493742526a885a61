import { expect, it } from 'vitest';
import { parseConfig } from './load.ts';

it.each([
  ['workers: { cuont: 3 }', 'workers.cuont: there is no such setting; did you mean "count"?'],
  [
    'gates: [{ name: x, command: x, requird: true }]',
    'gates[0].requird: there is no such setting; did you mean "required"?',
  ],
  [
    'agents: { mine: { comand: [x], command: [x] } }',
    'agents.mine.comand: there is no such setting; did you mean "command"?',
  ],
  [
    'workers: { container: { memroy: 4g } }',
    'workers.container.memroy: there is no such setting; did you mean "memory"?',
  ],
  ['wokers: {}', 'wokers: there is no such setting; did you mean "workers"?'],
  ['parallelism: 3', 'parallelism: there is no such setting'],
])('a key that is nearly known is told with the one that is meant: %s', (text, problem) => {
  expect(() => parseConfig('config.yaml', text)).toThrow(
    expect.objectContaining({ facts: { file: 'config.yaml', problems: [problem] } }),
  );
});
