import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { agentErrors } from '../src/agents/errors.ts';
import { projectErrors } from '../src/project/errors.ts';
import { configErrors } from '../src/config/errors.ts';
import { gitErrors } from '../src/git/errors.ts';
import { hasCode, reasonOf, systemCode } from '../src/lib/app-error.ts';
import type { AppError, ErrorMaker } from '../src/lib/app-error.ts';
import { asAppError, libErrors } from '../src/lib/errors.ts';
import { inBytes } from '../src/lib/text/amounts.ts';
import { taskErrors } from '../src/tasks/errors.ts';

const SRC = path.join(import.meta.dirname, '../src');
const FILES = (await readdir(SRC, { recursive: true })).filter((file) => path.basename(file) === 'errors.ts');
const MODULES: object[] = await Promise.all(FILES.map((file) => import(path.join(SRC, file))));
/** Every maker of every room, by what the rooms export. */
const ALL = MODULES.flatMap((module) => Object.values(module) as object[])
  .flatMap((registry): unknown[] => Object.values(registry))
  .filter((maker): maker is ErrorMaker => typeof maker === 'function' && 'example' in maker)
  .map((maker) => [maker.code, maker] as const);

describe('every error', () => {
  it('has a code of its own, in all rooms together', () => {
    const codes = ALL.map(([code]) => code);
    expect(codes.length).toBeGreaterThan(50);
    expect(codes.filter((code, index) => codes.indexOf(code) !== index)).toEqual([]);
  });

  it.each(ALL)('%s says what, what to do next, and has an exit status', (code, make) => {
    const error = make(make.example);
    for (const text of [error.message, error.hint]) {
      expect(text.trim()).toBe(text);
      expect(text.length).toBeGreaterThan(8);
      expect(text).not.toMatch(/undefined|null|NaN|\[object|\$\{/);
    }
    expect([1, 2, 4]).toContain(error.exit);
    expect(error).toMatchObject({ code, facts: make.example, name: 'AppError' });
  });

  it.each(ALL)('%s names all its facts', (_, make) => {
    const { message, hint } = make(make.example);
    for (const [name, value] of Object.entries<string | number | boolean | string[]>({ ...make.example })) {
      // It chooses between words.
      if (typeof value === 'boolean') continue;
      if (['waitedMs', 'expected', 'stderr', 'tasks', 'standing'].includes(name)) continue;
      for (const part of Array.isArray(value) ? value : [value]) {
        const isNamed = [String(part), inBytes(Number(part))].some((text) => `${message} ${hint}`.includes(text));
        expect(isNamed, `${name} ${part} in: ${message} ${hint}`).toBe(true);
      }
    }
  });

  it.each<[string, AppError, number]>([
    ["the user's input", libErrors.USAGE(libErrors.USAGE.example), 2],
    ['the machine', gitErrors.GIT_MISSING({ reason: 'x' }), 4],
    ['the work', gitErrors.MERGE_CONFLICT(gitErrors.MERGE_CONFLICT.example), 1],
    ['ourselves', libErrors.INTERNAL({ what: 'x' }), 1],
  ])('that %s can cure has an exit status of its own', (_, error, exit) => {
    expect(error.exit).toBe(exit);
  });

  it('does not compile without all its facts', () => {
    // @ts-expect-error -- the reason is missing
    expect(gitErrors.GIT_MISSING({}).message).toContain('undefined');
    // @ts-expect-error -- there is no such code
    expect(gitErrors.GIT_STOLEN).toBeUndefined();
  });
});

describe('the words of an error', () => {
  it.each<[AppError, string]>([
    [
      configErrors.CONFIG_INVALID(configErrors.CONFIG_INVALID.example),
      'has 2 problems:\n  - agent: too short\n  - gates: not a',
    ],
    [taskErrors.GRAPH_INVALID(taskErrors.GRAPH_INVALID.example), 'has 1 problem:\n  - tasks[0].id: missing'],
    [projectErrors.FEATURE_UNKNOWN(projectErrors.FEATURE_UNKNOWN.example), 'Known: none.'],
    [gitErrors.GIT_FAILED(gitErrors.GIT_FAILED.example), '(exit status 128) in /repo: no message'],
    [agentErrors.AGENT_UNUSABLE(agentErrors.AGENT_UNUSABLE.example), '1 task needs an agent'],
    [agentErrors.AGENT_UNUSABLE({ ...agentErrors.AGENT_UNUSABLE.example, tasks: 2 }), '2 tasks need an agent'],
    [libErrors.LOCK_BUSY(libErrors.LOCK_BUSY.example), 'gave up after 120 s'],
    [gitErrors.MERGE_CONFLICT(gitErrors.MERGE_CONFLICT.example), 'both changed 1 file: src/a.ts'],
  ])('%#', (error, text) => {
    expect(error.message).toContain(text);
  });

  it('names all that a blocked task waits for, and never says that blocked ones can be retried', () => {
    const facts = { feature: 'x', task: 'C', status: 'blocked', waitsFor: ['A', 'B'] };
    const { message, hint } = projectErrors.TASK_NOT_RETRYABLE(facts);
    expect(message).toBe('Task C is blocked: it waits for A, B, which failed.');
    for (const id of facts.waitsFor) expect(hint).toContain(`mahabharatha retry ${id} --feature x`);
  });

  it('names the next command that fits the status of the run', () => {
    const [complete, paused] = ['complete', 'paused'].map((status) =>
      projectErrors.RUN_EXISTS({ feature: 'x', status }),
    );
    expect(complete?.hint).toContain('mahabharatha merge --feature x');
    expect(paused?.hint).toContain('kurukshetra --feature x --resume');
  });

  it.each([projectErrors.RUN_EXISTS, projectErrors.MERGE_NOT_READY])(
    'names retry before the resume of a failed run, which alone does nothing: %#',
    (make) => {
      const { hint } = make({ feature: 'x', status: 'failed' });
      expect(hint).toMatch(/mahabharatha retry --feature x.*mahabharatha kurukshetra --feature x --resume/);
      expect(make({ feature: 'x', status: 'stopped' }).hint).not.toContain('retry');
    },
  );
});

describe('what was thrown', () => {
  it('stays the same error when it is one of ours, and is an internal error when not', () => {
    const ours = projectErrors.NO_RUN({ features: ['x'] });
    expect(asAppError(ours)).toBe(ours);
    const cause = new TypeError('x is not a function');
    expect(asAppError(cause)).toMatchObject({ code: 'INTERNAL', cause, message: expect.stringContaining('x is not') });
    expect(asAppError('a text')).toMatchObject({ code: 'INTERNAL', facts: { what: 'a text' } });
    expect(asAppError(undefined)).toMatchObject({ code: 'INTERNAL' });
  });

  it('is a problem of the machine when a folder could not be made, in whatever code that appears', () => {
    for (const code of ['ENOENT', 'ENOTDIR', 'EEXIST', 'EIO', 'ENOSPC']) {
      const cause = Object.assign(new Error(`${code}: why, mkdir '/a/b'`), { code, syscall: 'mkdir', path: '/a/b' });
      expect(asAppError(cause)).toMatchObject({ code: 'FILE_UNWRITABLE', exit: 4, facts: { file: '/a/b' }, cause });
    }
    const opened = Object.assign(new Error("ENOENT: why, open '/a/b'"), {
      code: 'ENOENT',
      syscall: 'open',
      path: '/a/b',
    });
    expect(asAppError(opened)).toMatchObject({ code: 'INTERNAL' });
  });

  it('has a code, a system code and a reason', () => {
    expect(hasCode(projectErrors.NO_RUN({ features: ['x'] }), projectErrors.NO_RUN)).toBe(true);
    expect(hasCode(projectErrors.NO_RUN({ features: ['x'] }), libErrors.USAGE)).toBe(false);
    expect(hasCode(Object.assign(new Error('x'), { code: 'NO_RUN' }), projectErrors.NO_RUN)).toBe(false);
    expect(systemCode(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('ENOENT');
    expect(systemCode(Object.assign(new Error('x'), { code: 7 }))).toBeUndefined();
    expect(systemCode('ENOENT')).toBeUndefined();
    expect([reasonOf(new Error('why')), reasonOf('why'), reasonOf(7)]).toEqual(['why', 'why', '7']);
  });
});
