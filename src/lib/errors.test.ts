import { describe, expect, it } from 'vitest';
import type { ErrorCode, ErrorFacts } from './error-codes.ts';
import { AppError, asAppError, hasCode, reasonOf, systemCode } from './errors.ts';

/** Facts for every code: one that is missing here does not compile. */
const FACTS: ErrorFacts = {
  ALREADY_RUNNING: { feature: 'login', pid: 7, since: '2026-11-18T08:00:00.000Z' },
  AGENT_UNUSABLE: { agent: 'claude', tasks: 1, reason: 'it is not installed', remedy: 'Install it.' },
  AGENT_UNCONFINED: { agent: 'claude', tasks: 2 },
  AGENT_UNKNOWN: { agent: 'gpt', known: ['claude', 'mine'] },
  BUNDLE_REFUSED: { reason: 'fsck: hasDotgit' },
  BRANCH_BLOCKS_NAMESPACE: { branch: 'mahabharatha', wanted: 'mahabharatha/login/integration' },
  CONFIG_INVALID: { file: 'config.yaml', problems: ['agent: too short', 'gates: not a list'] },
  CONFIG_NOT_TRUSTED: { changes: ['.mahabharatha/config.yaml is new'], lines: ['+ workers:'] },
  CONTAINERS_UNAVAILABLE: { reasons: ['it was so before'], tried: ['/var/run/docker.sock: nothing listens there'] },
  CONTAINER_NAME_TAKEN: { name: 'mahabharatha-worker-0' },
  CREDENTIALS_MISSING: { reason: 'none found', tasks: 3 },
  CREDENTIALS_INVALID: { source: '/home/me/.claude/.credentials.json', reason: 'it is not JSON' },
  DEMO_FOLDER_NOT_EMPTY: { path: '/tmp/demo' },
  ENGINE_FAILED: { call: 'start container x', reason: 'no room' },
  ENGINE_TIMEOUT: { call: 'list containers', place: '/var/run/docker.sock', waitedMs: 15_000 },
  ENGINE_UNREACHABLE: { tried: ['/var/run/docker.sock: nothing listens there', 'tcp://x:1: no such host'] },
  FEATURE_AMBIGUOUS: { features: ['login', 'search'] },
  FEATURE_NAME_INVALID: { feature: '../x' },
  FEATURE_UNKNOWN: { feature: 'login', known: [] },
  FILE_UNREADABLE: { file: '/x', reason: 'no rights' },
  FILE_UNWRITABLE: { file: '/x', reason: 'no room' },
  FOLDER_UNSAFE: { folder: '/x', reason: 'it is a link or a file' },
  GIT_FAILED: { args: ['merge-tree', 'a', 'b'], cwd: '/repo', exit: 'exit status 128', stderr: '\n' },
  GIT_MISSING: { reason: 'spawn git ENOENT' },
  GIT_TOO_OLD: { found: '2.37.0', needed: '2.38' },
  GRAPH_INVALID: { file: 'task-graph.json', problems: ['tasks[0].id: missing'] },
  GRAPH_MISSING: { file: 'task-graph.json' },
  IMAGE_BUILD_FAILED: { image: 'x:1', reason: 'exit 7', output: ['Step 2/2 : RUN exit 7', 'no room'] },
  IMAGE_MISSING: { image: 'x:1' },
  INTERNAL: { what: 'x is not a function' },
  INTEGRATION_MOVED: { branch: 'mahabharatha/login/integration', expected: 'a'.repeat(40) },
  INTEGRATION_CHECKED_OUT: { branch: 'mahabharatha/login/integration', worktree: '/repo' },
  LOCK_BUSY: { file: '/x.lock', pid: 7, waitedMs: 120_000 },
  LOCK_FOREIGN: { file: '/x.lock', pid: 7, host: 'build-7' },
  LOCK_LOST: { feature: 'login', file: '/p/lock.json', pid: 1, host: 'here' },
  MERGE_CONFLICT: { branch: 'a', into: 'b', files: ['src/a.ts'] },
  MERGE_DIRTY: { into: 'main', worktree: '/repo', reason: 'local changes' },
  MERGE_UNSOUND: { branch: 'mahabharatha/login/integration', reason: 'the commit of B is not in it' },
  MERGE_OVER_IGNORED: { into: 'main', worktree: '/repo', files: ['.env'] },
  MERGE_NOT_READY: { feature: 'login', status: 'paused' },
  MERGE_TARGET_UNCLEAR: { reason: 'HEAD is detached' },
  MODE_UNCLEAR: { feature: 'login', begun: 'subprocess', reasons: ['it was so before'] },
  MODE_UNAVAILABLE: { mode: 'container', reason: 'no Docker' },
  NOTHING_TO_RESUME: { feature: 'login' },
  NOT_A_REPOSITORY: { path: '/x' },
  NO_COMMIT_YET: { path: '/x' },
  NO_RUN: { feature: 'login' },
  PROCESS_NOT_STARTED: { command: 'ps', reason: 'spawn ps ENOENT' },
  REF_UNKNOWN: { ref: 'nothing' },
  RESOURCES_EXHAUSTED: { what: 'Starting "git"', reason: 'too many files are open' },
  RUN_EXISTS: { feature: 'login', status: 'complete' },
  RUN_LIVE: { feature: 'login', pid: 7 },
  STATE_INVALID: { file: 'login.json', problems: ['it is not JSON'] },
  STATE_VERSION: { file: 'login.json', found: '99', known: 1 },
  STOP_SLOW: { feature: 'login', pid: 7, waitedMs: 60_000 },
  CLEANUP_BLIND: { feature: 'login', folder: '/state/login', problems: ['the engine does not answer'] },
  CLEANUP_ELSEWHERE: { feature: 'login', root: '/repo' },
  CLEANUP_OUTDATED: { feature: 'login' },
  CLEANUP_UNCONFIRMED: { feature: 'login' },
  TASK_NOT_RETRYABLE: { feature: 'login', task: 'T-1', status: 'running', waitsFor: [] },
  TASK_UNKNOWN: { task: 'T-9', known: ['T-1'] },
  TRACES_LEFT: { feature: 'login', refs: ['refs/heads/mahabharatha/login/integration'], merged: ['A'] },
  USAGE: { problem: 'There is no option --fast.', hint: 'See: mahabharatha --help' },
};

const CODES = Object.keys(FACTS) as ErrorCode[];

describe('every error', () => {
  it.each(CODES)('%s says what, what to do next, and has an exit status', (code) => {
    const error = new AppError(code, FACTS[code]);
    for (const text of [error.message, error.hint]) {
      expect(text.trim()).toBe(text);
      expect(text.length).toBeGreaterThan(8);
      expect(text).not.toMatch(/undefined|null|NaN|\[object|\$\{/);
    }
    expect([1, 2, 4]).toContain(error.exit);
    expect(error.facts).toBe(FACTS[code]);
    expect(error.name).toBe('AppError');
  });

  it.each(CODES)('%s names all its facts', (code) => {
    const error = new AppError(code, FACTS[code]);
    const text = `${error.message} ${error.hint}`;
    for (const [name, value] of Object.entries(FACTS[code])) {
      if (['waitedMs', 'expected', 'stderr', 'tasks'].includes(name) || value.length === 0) continue;
      for (const part of Array.isArray(value) ? value : [value]) expect(text).toContain(String(part));
    }
  });

  it.each<[string, ErrorCode, number]>([
    ["the user's input", 'USAGE', 2],
    ['the machine', 'GIT_MISSING', 4],
    ['the work', 'MERGE_CONFLICT', 1],
    ['ourselves', 'INTERNAL', 1],
  ])('that %s can mend has its own exit status', (_, code, exit) => {
    expect(new AppError(code, FACTS[code]).exit).toBe(exit);
  });
});

describe('the words of an error', () => {
  it.each<[AppError, string]>([
    [new AppError('CONFIG_INVALID', FACTS.CONFIG_INVALID), 'has 2 problems:\n  - agent: too short\n  - gates: not a'],
    [new AppError('GRAPH_INVALID', FACTS.GRAPH_INVALID), 'has 1 problem:\n  - tasks[0].id: missing'],
    [new AppError('FEATURE_UNKNOWN', FACTS.FEATURE_UNKNOWN), 'Known: none.'],
    [new AppError('GIT_FAILED', FACTS.GIT_FAILED), '(exit status 128) in /repo: no message'],
    [new AppError('AGENT_UNUSABLE', FACTS.AGENT_UNUSABLE), '1 task needs an agent'],
    [new AppError('AGENT_UNUSABLE', { ...FACTS.AGENT_UNUSABLE, tasks: 2 }), '2 tasks need an agent'],
    [new AppError('LOCK_BUSY', FACTS.LOCK_BUSY), 'gave up after 120 s'],
    [new AppError('MERGE_CONFLICT', FACTS.MERGE_CONFLICT), 'both changed 1 file: src/a.ts'],
  ])('%#', (error, text) => {
    expect(error.message).toContain(text);
  });

  it('names all that a blocked task waits for, and never says that blocked ones can be retried', () => {
    const facts = { feature: 'x', task: 'C', status: 'blocked', waitsFor: ['A', 'B'] };
    const { message, hint } = new AppError('TASK_NOT_RETRYABLE', facts);
    expect(message).toBe('Task C is blocked: it waits for A, B, which failed.');
    for (const id of facts.waitsFor) expect(hint).toContain(`mahabharatha retry ${id} --feature x`);
  });

  it('names the way on that fits the run that is there', () => {
    const [complete, paused] = ['complete', 'paused'].map(
      (status) => new AppError('RUN_EXISTS', { feature: 'x', status }),
    );
    expect(complete?.hint).toContain('mahabharatha merge --feature x');
    expect(paused?.hint).toContain('kurukshetra --feature x --resume');
  });
});

describe('what was thrown', () => {
  it('stays what it is when it is one of ours, and is a bug when not', () => {
    const ours = new AppError('NO_RUN', { feature: 'x' });
    expect(asAppError(ours)).toBe(ours);
    const cause = new TypeError('x is not a function');
    expect(asAppError(cause)).toMatchObject({ code: 'INTERNAL', cause, message: expect.stringContaining('x is not') });
    expect(asAppError('a text')).toMatchObject({ code: 'INTERNAL', facts: { what: 'a text' } });
    expect(asAppError(undefined)).toMatchObject({ code: 'INTERNAL' });
  });

  it('tells its code, its system code and its reason', () => {
    expect(hasCode(new AppError('NO_RUN', { feature: 'x' }), 'NO_RUN')).toBe(true);
    expect(hasCode(new AppError('NO_RUN', { feature: 'x' }), 'USAGE')).toBe(false);
    expect(hasCode(Object.assign(new Error('x'), { code: 'NO_RUN' }), 'NO_RUN')).toBe(false);
    expect(systemCode(Object.assign(new Error('x'), { code: 'ENOENT' }))).toBe('ENOENT');
    expect(systemCode(Object.assign(new Error('x'), { code: 7 }))).toBeUndefined();
    expect(systemCode('ENOENT')).toBeUndefined();
    expect([reasonOf(new Error('why')), reasonOf('why'), reasonOf(7)]).toEqual(['why', 'why', '7']);
  });
});
