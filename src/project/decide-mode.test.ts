import { describe, expect, it } from 'vitest';
import { decideImage, decideResumed, decideWithoutEngine } from './decide-mode.ts';
import type { EngineAbsence } from './decide-mode.ts';

const absence = (change: Partial<EngineAbsence> = {}): EngineAbsence => ({
  meant: [],
  signs: [],
  tried: ['the usual socket: there is no such socket'],
  agents: ['claude'],
  agentTasks: 0,
  ...change,
});

describe('mode auto without an engine', () => {
  it('is subprocess where nothing speaks for containers and all tasks have commands', () => {
    expect(decideWithoutEngine(absence())).toMatch(/no container engine/);
  });

  it.each([
    ['the repository has run in containers', { meant: ['it has run in containers'] }, 'it has run in containers'],
    ['an engine is stopped', { signs: ['/usr/bin/docker is on this machine'] }, '/usr/bin/docker'],
    ['both', { meant: ['one'], signs: ['two'], agentTasks: 3 }, 'two'],
  ])('refuses when %s, and says what to do', (_, change, words) => {
    expect(() => decideWithoutEngine(absence(change))).toThrow(
      expect.objectContaining({
        code: 'CONTAINERS_UNAVAILABLE',
        exit: 4,
        message: expect.stringContaining(words),
        hint: expect.stringMatching(/Start Docker .*--mode subprocess/),
      }),
    );
  });

  it('refuses to let an agent act with the rights of the user unless a person says so', () => {
    expect(() => decideWithoutEngine(absence({ agentTasks: 2 }))).toThrow(
      expect.objectContaining({
        code: 'AGENT_UNCONFINED',
        exit: 4,
        message: expect.stringContaining('2 of the tasks are for an agent (claude)'),
        hint: expect.stringContaining('--mode subprocess'),
      }),
    );
  });
});

type Image = Parameters<typeof decideImage>[0];
const UNASKED = { autoBuild: false, command: 'mahabharatha kurukshetra --feature login' };

describe('the image of a run', () => {
  it('is taken when it is fresh', () => {
    const fresh: Image = { kind: 'worker', state: { state: 'fresh', tag: 'x:1', id: 'y', bytes: 1 } };
    expect(decideImage(fresh, UNASKED)).toEqual({ do: 'take', tag: 'x:1' });
  });

  it('is built anew when it is stale', () => {
    const state = {
      state: 'stale',
      tag: 'x:1',
      id: 'y',
      reasons: ['the program has changed', 'so has its base'],
    } as const;
    const because = 'the program has changed; so has its base';
    expect(decideImage({ kind: 'repository', state }, UNASKED)).toEqual({ do: 'build', because });
  });

  it('is refused when there is none, unless --auto-build says so', () => {
    const missing: Image = { kind: 'worker', state: { state: 'missing' } };
    const hint = expect.stringMatching(/mahabharatha build.*--feature login --auto-build\. .*--mode subprocess/);
    expect(() => decideImage(missing, UNASKED)).toThrow(
      expect.objectContaining({ code: 'IMAGE_NOT_BUILT', exit: 4, hint }),
    );
    expect(decideImage(missing, { ...UNASKED, autoBuild: true })).toMatchObject({ do: 'build' });
  });
});

describe('a resumed run', () => {
  it('keeps the mode that it was begun in', () => {
    for (const modeByAuto of [true, false])
      expect(decideResumed('login', { mode: 'container', modeByAuto }, ['a reason'])).toBe('container');
    expect(decideResumed('login', { mode: 'subprocess', modeByAuto: false }, [])).toBe('subprocess');
  });

  it('that auto has begun as subprocesses is a new choice for auto', () => {
    expect(decideResumed('login', { mode: 'subprocess', modeByAuto: true }, [])).toBe('auto');
  });

  it('that was begun with subprocesses is refused where containers are meant by now', () => {
    expect(() => decideResumed('login', { mode: 'subprocess', modeByAuto: false }, ['a reason'])).toThrow(
      expect.objectContaining({ code: 'MODE_UNCLEAR', exit: 4, hint: expect.stringContaining('--mode subprocess') }),
    );
  });
});
