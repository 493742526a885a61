import { expect, it } from 'vitest';
import { parseConfig } from '../config/index.ts';
import { containerOnlyNotes } from './container-only.ts';

const notes = (text: string, name: 'subprocess' | 'container' = 'subprocess'): string[] =>
  containerOnlyNotes(parseConfig('config.yaml', text), { name });

it('limits of containers are said not to hold in subprocesses, where they are set', () => {
  expect(notes('workers: { container: { memory: 1g, cpus: 1 } }')).toEqual([
    expect.stringMatching(/^What workers\.container sets \(memory, cpus\) holds in containers alone: /),
  ]);
  expect(notes('workers: { container: { cpus: 2 } }')).toEqual([
    expect.stringMatching(/^What workers\.container sets holds/),
  ]);
  expect(notes('workers: { count: 2 }')).toEqual([]);
  expect(notes('workers: { container: { memory: 1g } }', 'container')).toEqual([]);
});
