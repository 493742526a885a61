import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { startNode } from '../../test/support/node-process.ts';
import { tempFolder } from '../../test/support/temp-folder.ts';
import { fingerprint, tempRepository } from '../../test/support/temp-repository.ts';
import { replay } from '../orchestrator/reduce.ts';
import type { NumberedEvent } from './events.ts';
import { clearRun, featuresWithState, openStore } from './file-store.ts';
import type { StateStore } from './file-store.ts';
import { projectPaths } from './paths.ts';
import type { RunState } from './schema.ts';

/** Opening a store makes no folder for workers. */
const placeNowhere = () => ({ top: '', folder: '', record: '' });
const COMMIT = 'a'.repeat(40);
const TIME = '2026-11-18T08:00:00.000Z';
const USAGE = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4, costUsd: 0.5 };

const STATE: RunState = {
  version: 1,
  feature: 'login',
  runId: '20261118t080000-abcdef',
  status: 'running',
  cause: null,
  base: COMMIT,
  integration: 'mahabharatha/login/integration',
  integrationTip: 'b'.repeat(64),
  level: 1,
  settings: {
    workers: 2,
    mode: 'subprocess',
    modeByAuto: false,
    agent: 'claude',
    ownership: 'enforce',
    gates: [{ name: 'build', command: 'npm run build', required: true, timeoutMs: 1000 }],
    caps: { run: { usd: 5, asked: true }, task: null },
  },
  tasks: {
    'T-1': {
      title: 'Grüße',
      status: 'running',
      level: 1,
      attempts: [
        {
          number: 1,
          worker: 0,
          base: COMMIT,
          verifier: null,
          begun: 4,
          startedAt: TIME,
          endedAt: TIME,
          outcome: 'verification-failed',
          detail: 'exit status 1',
          commit: null,
          usage: USAGE,
        },
      ],
      failures: 1,
      losses: 0,
      backoffs: 0,
      cost: USAGE,
      commit: null,
      merged: false,
      cause: null,
      feedback: 'two\nlines',
      notBefore: null,
    },
  },
  workers: {
    '0': {
      status: 'RUNNING',
      mode: 'subprocess',
      session: 's',
      task: 'T-1',
      heartbeatAt: TIME,
      branch: 'mahabharatha/login/worker-0',
      worktree: '/w',
      pid: 7,
      containerId: null,
      handle: { anything: ['at', 'all'] },
      startedAt: TIME,
      cause: null,
      trouble: 'the model cannot be reached',
      toldTroubles: ['the model cannot be reached'],
      toldPhases: 1,
    },
  },
  levels: {
    '1': {
      status: 'gating',
      base: COMMIT,
      trial: { tasks: ['T-1'], tips: [COMMIT], green: false, reds: 1, search: { good: -1, bad: 1 }, redLog: 'red' },
      gateRun: { attempt: 'g', worker: 0, commit: COMMIT, count: 1, startedAt: null },
      gateLosses: 0,
      gateRuns: 1,
      gates: [{ name: 'build', ok: false, required: true, detail: 'exit status 1' }],
      startedAt: TIME,
      completedAt: null,
    },
  },
  cost: USAGE,
  warnings: ['mind this'],
  startFailures: 0,
  resumeAt: null,
  startedAt: TIME,
  updatedAt: TIME,
  drivenMs: 5,
  drivenSince: '2026-01-01T00:00:00.000Z',
  events: 7,
};

const storeIn = (root: string, feature = 'login'): StateStore =>
  openStore(projectPaths(root, placeNowhere), feature, replay);

/** A store with its folders, and without a lock. */
async function openLocked(root = tempFolder()): Promise<StateStore> {
  const store = storeIn(root);
  const release = await store.lock();
  await release();
  return store;
}

describe('the snapshot', () => {
  it('is read as it was written', async () => {
    const store = await openLocked();
    expect(await store.read()).toBeUndefined();
    await store.write(STATE);
    expect(await store.read()).toEqual(STATE);
    await store.write({ ...STATE, status: 'complete', tasks: {}, workers: {} });
    expect(await store.read()).toMatchObject({ status: 'complete', tasks: {} });
  });

  it('of an earlier version, without the troubles of workers, is read as well', async () => {
    const store = await openLocked();
    const { trouble: _trouble, toldTroubles: _told, ...worker } = { ...STATE.workers['0'] };
    writeFileSync(store.paths.state, JSON.stringify({ ...STATE, workers: { '0': worker } }));
    const state = await store.read();
    expect(state?.workers['0']).toEqual({ ...worker, trouble: null, toldTroubles: [] });
  });

  it.each<[string, unknown, string]>([
    ['a later version', { ...STATE, version: 99 }, '99'],
    ['a version that is a text', { ...STATE, version: '1' }, '"1"'],
    ['no version', { feature: 'login' }, 'none'],
    ['a list', [], 'none'],
    ['nothing', null, 'none'],
  ])('is refused with a hint when it has %s', async (_, value, found) => {
    const store = await openLocked();
    writeFileSync(store.paths.state, JSON.stringify(value));
    await expect(store.read()).rejects.toMatchObject({
      code: 'STATE_VERSION',
      facts: { file: store.paths.state, found, known: 1 },
      hint: expect.stringContaining('Use the version of Mahabharatha that wrote it'),
      exit: 4,
    });
  });

  it.each<[string, unknown, string[]]>([
    ['lacks a field', { ...STATE, runId: undefined }, ['runId']],
    ['has one too many', { ...STATE, extra: 1 }, ['the whole file']],
    ['has a status that is none', { ...STATE, status: 'done' }, ['status']],
    ['has no commit for a base', { ...STATE, base: 'HEAD' }, ['base']],
    [
      'is wrong deep down, twice',
      { ...STATE, level: 'one', tasks: { 'T-1': { ...STATE.tasks['T-1'], attempts: [{ number: 0 }] } } },
      ['level', 'tasks.T-1.attempts\\[0\\].number', 'tasks.T-1.attempts\\[0\\].worker'],
    ],
  ])('is refused with the place when it %s', async (_, value, places) => {
    const store = await openLocked();
    writeFileSync(store.paths.state, JSON.stringify(value));
    const error: unknown = await store.read().catch((error: unknown) => error);
    expect(error).toMatchObject({ code: 'STATE_INVALID', exit: 4 });
    const { problems } = (error as { facts: { problems: string[] } }).facts;
    for (const place of places) expect(problems).toContainEqual(expect.stringMatching(`^${place}: .`));
    // These would be the words of a parser, and not ours.
    expect(problems.join('\n')).not.toMatch(/Invalid (input|option)/);
  });

  it.each(['', '{', 'null null', '{"version": 1,'])('is refused when it is no JSON: %j', async (text) => {
    const store = await openLocked();
    writeFileSync(store.paths.state, text);
    await expect(store.read()).rejects.toMatchObject({
      code: 'STATE_INVALID',
      message: expect.stringContaining('it is not JSON'),
      hint: expect.stringContaining('Nothing was changed.'),
    });
  });

  it('that is refused stays as it is, with all other files', async () => {
    const root = tempFolder();
    const store = await openLocked(root);
    for (const text of ['{', '{"version": 2}', '{"version": 1}']) {
      writeFileSync(store.paths.state, text);
      const before = fingerprint(root);
      await expect(store.read()).rejects.toThrow();
      expect(fingerprint(root)).toEqual(before);
    }
  });

  it('that cannot be read or written is named in the error', async () => {
    const store = await openLocked();
    mkdirSync(path.join(store.paths.state, 'sub'), { recursive: true });
    await expect(store.read()).rejects.toMatchObject({ code: 'FILE_UNREADABLE', facts: { file: store.paths.state } });
    await expect(store.write(STATE)).rejects.toMatchObject({
      code: 'FILE_UNWRITABLE',
      facts: { file: store.paths.state },
    });
  });

  it('shows which features have a run', async () => {
    const root = tempFolder();
    expect(await featuresWithState(projectPaths(root, placeNowhere))).toEqual([]);
    await (await openLocked(root)).write(STATE);
    await storeIn(root, 'v1.2').write(STATE);
    const names = await featuresWithState(projectPaths(root, placeNowhere));
    expect(names.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(['login', 'v1.2']);
  });
});

const warning = (text: string, seq = 1): NumberedEvent => ({ seq, at: TIME, type: 'warning', text });
const textsOf = (store: StateStore): unknown[] =>
  readFileSync(store.paths.events, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown);

const warningsOf = async (store: StateStore): Promise<unknown> => (await store.read())?.warnings;

describe('events after the snapshot', () => {
  it('are in the log and are read with it', async () => {
    const store = await openLocked();
    await store.append([warning('in the snapshot', 7)]);
    await store.write(STATE);
    expect(await store.read()).toEqual(STATE);
    await store.append([warning('one', 8), warning('two', 9)]);
    const later = { ...STATE, warnings: [...STATE.warnings, 'one', 'two'], events: 9 };
    expect(await store.read()).toEqual(later);
    await store.write(later);
    expect(await store.read()).toEqual(later);
  });

  it('are found, however many they are', async () => {
    const store = await openLocked();
    await store.write(STATE);
    const events = Array.from({ length: 3000 }, (_, index) => warning('x'.repeat(200), index + 8));
    await store.append(events);
    expect((await store.read())?.events).toBe(3007);
  });

  it('count as far as they are written completely', async () => {
    const store = await openLocked();
    await store.write(STATE);
    await store.append([warning('one', 8)]);
    appendFileSync(store.paths.events, JSON.stringify(warning('two', 9)));
    expect(await warningsOf(store)).toEqual([...STATE.warnings, 'one']);
    await store.append([warning('another two', 9)]);
    expect(await warningsOf(store)).toEqual([...STATE.warnings, 'one', 'another two']);
  });

  it.each<[string, NumberedEvent[], string[]]>([
    ['a version that did not number events', [{ ...warning('old'), seq: undefined as never }], []],
    ['a run whose snapshot was removed', [warning('old', 8), warning('old', 9), warning('old', 10)], ['8', '9']],
    ['a write that was done twice', [warning('8', 8), warning('9', 9)], ['8', '9']],
    ['a log that lacks events', [warning('old', 6), warning('10', 10)], []],
  ])('are not mixed up with lines of %s', async (_, before, expected) => {
    const store = await openLocked();
    await store.write(STATE);
    await store.append(before);
    if (expected.length > 0) await store.append(expected.map((text) => warning(text, Number(text))));
    expect(await warningsOf(store)).toEqual([...STATE.warnings, ...expected]);
  });

  it('are refused when they lead to no valid state', async () => {
    const store = await openLocked();
    await store.write(STATE);
    appendFileSync(store.paths.events, `${JSON.stringify({ seq: 8, at: TIME, type: 'warning', text: 7 })}\n`);
    await expect(store.read()).rejects.toMatchObject({ code: 'STATE_INVALID', facts: { file: store.paths.events } });
    appendFileSync(store.paths.events, `${JSON.stringify({ seq: 9, at: TIME, type: 'gates-passed' })}\n`);
    await expect(store.read()).rejects.toMatchObject({ code: 'STATE_INVALID', facts: { file: store.paths.events } });
  });
});

describe('the event log', () => {
  it('grows by one line for each event, in order', async () => {
    const store = await openLocked();
    await store.append([]);
    expect(existsSync(store.paths.events)).toBe(false);
    await store.append([warning('one'), warning('two\nlines ü')]);
    await store.append([warning('three')]);
    expect(textsOf(store)).toEqual([warning('one'), warning('two\nlines ü'), warning('three')]);
  });

  it('adds no event to the half line that a crash has left', async () => {
    const store = await openLocked();
    await store.append([warning('one')]);
    appendFileSync(store.paths.events, '{"type":"warn');
    await store.append([warning('two')]);
    expect(textsOf(store)).toEqual([warning('one'), warning('two')]);
    // Longer than what is read of the log at once.
    appendFileSync(store.paths.events, `{"type":"${'x'.repeat(200_000)}`);
    await store.append([warning('three')]);
    expect(textsOf(store)).toEqual([warning('one'), warning('two'), warning('three')]);
  });

  it('that cannot be written is named in the error', async () => {
    const store = await openLocked();
    mkdirSync(store.paths.events);
    await expect(store.append([warning('one')])).rejects.toMatchObject({ code: 'FILE_UNWRITABLE' });
  });
});

describe('requests to a running orchestrator', () => {
  it('stay until they are dropped', async () => {
    const store = await openLocked();
    expect(await store.requests()).toEqual([]);
    await Promise.all(['T-1', 'T-2', 'T-3'].map((task) => store.ask({ kind: 'retry', task })));
    const requests = await store.requests();
    expect(new Set(requests.map(({ task }) => task))).toEqual(new Set(['T-1', 'T-2', 'T-3']));
    expect(await store.requests()).toEqual(requests);
    await store.dropRequests(requests.slice(1).map(({ id }) => id));
    expect(await store.requests()).toEqual(requests.slice(0, 1));
  });

  it('can be written before there is an orchestrator', async () => {
    const store = storeIn(tempFolder());
    expect(await store.requests()).toEqual([]);
    await store.ask({ kind: 'retry', task: 'T-1' });
    expect(await store.requests()).toMatchObject([{ kind: 'retry', task: 'T-1' }]);
  });

  it('that are not valid have no task, and stay until they are dropped', async () => {
    const store = await openLocked();
    const texts = ['', '{', 'null', '[]', '{"task": 1}', '{"kind": "retry"}'];
    texts.forEach((text, n) => writeFileSync(path.join(store.paths.requests, `${n}.json`), text));
    symlinkSync('/etc/passwd', path.join(store.paths.requests, 'link.json'));
    await store.ask({ kind: 'retry', task: 'T-1' });
    const files = await store.requests();
    const [valid, ...others] = files.filter(({ task }) => task !== undefined);
    expect([valid, others]).toMatchObject([{ kind: 'retry', task: 'T-1' }, []]);
    expect(readdirSync(store.paths.requests).toSorted()).toEqual(files.map(({ id }) => id));
    await store.dropRequests(files.filter(({ task }) => task === undefined).map(({ id }) => id));
    expect(readdirSync(store.paths.requests)).toEqual([valid?.id]);
  });
});

describe('removing a run', () => {
  it('leaves the lock and new drafts of it, and removes old drafts', async () => {
    const store = await openLocked();
    const release = await store.lock();
    const held = await store.holder();
    const [waiting, dead] = ['waiting', 'dead'].map((name) => `${store.paths.lock}.${name}`) as [string, string];
    for (const file of [waiting, dead, store.paths.events, store.paths.state]) writeFileSync(file, '');
    utimesSync(dead, 0, 0);
    await clearRun(store.paths);
    expect(readdirSync(store.paths.folder).map((name) => path.join(store.paths.folder, name))).toEqual([
      store.paths.lock,
      waiting,
    ]);
    expect(held?.pid).toBe(process.pid);
    expect(await store.holder()).toEqual(held);
    await release();
    expect([existsSync(store.paths.state), existsSync(store.paths.logs)]).toEqual([false, false]);
  });
});

describe('the lock of a run', () => {
  it('removes new drafts of ignore files, which a start that was killed has left', async () => {
    const store = storeIn(tempFolder());
    const release = await store.lock();
    await release();
    const folders = [path.dirname(store.paths.state), path.dirname(store.paths.logs)];
    const drafts = folders.map((folder) => path.join(folder, '..gitignore.0123456789abcdef.tmp'));
    for (const draft of drafts) writeFileSync(draft, '');
    const again = await store.lock();
    expect(drafts.filter((draft) => existsSync(draft))).toEqual([]);
    await again();
  });

  it('stops a second orchestrator and names the first', async () => {
    const root = tempFolder();
    const store = storeIn(root);
    const release = await store.lock();
    await expect(storeIn(root).lock()).rejects.toMatchObject({
      code: 'ALREADY_RUNNING',
      facts: { feature: 'login', pid: process.pid, since: (await store.holder())?.since },
      exit: 2,
    });
    const other = await storeIn(root, 'search').lock();
    await other();
    await release();
    expect(await store.holder()).toBeUndefined();
    await (
      await store.lock()
    )();
  });

  it('is free again when its orchestrator was killed', async () => {
    const root = tempFolder();
    const orchestrator = startNode(
      `import { openStore, projectPaths } from './state/index.js';
       await openStore(projectPaths(process.env.ROOT, () => ({ top: '', folder: '', record: '' })), 'login', (state) => state).lock();
       console.log('locked');
       setInterval(() => {}, 1000);`,
      { ROOT: root },
    );
    await orchestrator.printed('locked');
    const store = storeIn(root);
    await expect(store.lock()).rejects.toMatchObject({ facts: { pid: orchestrator.pid } });
    orchestrator.child.kill('SIGKILL');
    await orchestrator.end;
    expect(await store.holder()).toBeUndefined();
    await (
      await store.lock()
    )();
  });

  it('is in folders that git ignores', async () => {
    const temp = tempRepository();
    rmSync(path.join(temp.folder, '.git/info/exclude'));
    const store = await openLocked(temp.folder);
    await store.write(STATE);
    await store.append([{ seq: 1, at: TIME, type: 'warning', text: 'x' }]);
    await store.ask({ kind: 'retry', task: 'T-1' });
    temp.write('.mahabharatha/logs/login/worker-0.jsonl', 'x\n');
    expect(temp.git('status', '--porcelain', '--untracked-files=all')).toBe('');
    temp.write('.mahabharatha/config.yaml', 'agent: claude\n');
    expect(temp.git('status', '--porcelain', '--untracked-files=all')).toBe('?? .mahabharatha/config.yaml');
  });
});
