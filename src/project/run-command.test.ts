import { describe, expect, it } from 'vitest';
import { runCommand } from './run-command.ts';

describe('the command of a run', () => {
  it.each([
    ['login', {}, 'mahabharatha kurukshetra --feature login'],
    ['login', { resume: true }, 'mahabharatha kurukshetra --feature login --resume'],
    ['login', { graphFile: '/my graphs/a.json' }, "mahabharatha kurukshetra --task-graph '/my graphs/a.json'"],
    ['login.planning', {}, null],
  ])('of %s with %j can be typed', (feature, wishes, command) => {
    expect(runCommand({ graph: { feature }, wishes })).toBe(command);
  });
});
