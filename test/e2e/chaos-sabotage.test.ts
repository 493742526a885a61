import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { atEach, eventsSoFar, expectBuilt, outboxOf, tracedTask } from '../support/chaos.ts';
import type { Chaos } from '../support/chaos.ts';
import { expectSound } from '../support/check-run.ts';

const SECRET = 'a file of the user that no task may touch\n';

/**
 * Rewrites the worker's status over and over, so that the worker itself hardly gets a word in: for so long, or until so many
 * attempts have failed.
 */
const FORGER = `
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
const [outbox, text, ms, number, events] = process.argv.slice(2);
const change = text.replace('S.N', 'S.' + number);
const file = outbox + '/status.json';
const until = Date.now() + Number(ms);
const failed = () => readFileSync(events, 'utf8').split('"type":"attempt-failed"').length > number;
const pause = new Int32Array(new SharedArrayBuffer(4));
while (Date.now() < until && !failed()) {
  try {
    const status = JSON.parse(readFileSync(file, 'utf8'));
    writeFileSync(outbox + '/forged', JSON.stringify({ ...status, ...JSON.parse(change) }));
    renameSync(outbox + '/forged', file);
  } catch {}
  Atomics.wait(pause, 0, 0, 1);
}
`;

interface Sabotage {
  readonly name: string;
  /** What the task does, in its first execution or in each. */
  readonly command: (places: { outbox: string; outside: string; forge: (change: object) => string }) => string;
  /** What is said of it. */
  readonly said: RegExp;
}

/** Nothing need be said of it. */
const ANYTHING = /./;

const repeat = (command: string): string => `while :; do ${command}; sleep 0.01; done 2> /dev/null`;

const OF_FILES: Sabotage[] = [
  { name: 'deletes its worktree', command: () => 'rm -rf "$PWD"', said: /worktree is gone/ },
  {
    name: 'puts a file in the place of its worktree',
    command: () => 'rm -rf "$PWD"; echo file > "$PWD"',
    said: /worktree is gone/,
  },
  {
    name: 'puts a link to a folder of the user in the place of its worktree',
    command: ({ outside }) => `here=$PWD; cd /; rm -rf "$here"; ln -s '${outside}' "$here"; cd "$here"`,
    said: /worktree is gone/,
  },
  {
    name: 'deletes its outbox',
    command: ({ outbox }) => `while [ -e '${outbox}' ]; do rm -rf '${outbox}'; done; sleep 3600`,
    said: /no heartbeat for [\d.]+ s/,
  },
  {
    name: 'puts a link in the place of its status',
    command: ({ outbox, outside }) => repeat(`ln -sfn '${outside}/precious' '${outbox}/status.json'`),
    said: /its status cannot be used: .*ELOOP/,
  },
  {
    name: 'puts a pipe in the place of its status',
    command: ({ outbox }) => repeat(`mkfifo '${outbox}/p' && mv '${outbox}/p' '${outbox}/status.json'`),
    said: /its status cannot be used: .*not a plain file/,
  },
  {
    name: 'puts a folder in the place of its status',
    command: ({ outbox }) => `rm '${outbox}/status.json'; mkdir -p '${outbox}/status.json/full'; sleep 3600`,
    said: /its status cannot be used: .*not a plain file/,
  },
  {
    name: 'fills its status with 100 MB of junk',
    command: ({ outbox }) =>
      `head -c 100000000 /dev/zero > '${outbox}/junk'; ${repeat(`ln -f '${outbox}/junk' '${outbox}/j' && mv '${outbox}/j' '${outbox}/status.json'`)}`,
    said: /its status cannot be used: .*it has 100000000 bytes, the limit is/,
  },
];

const result = {
  kind: 'task',
  attempt: 'S.N',
  outcome: 'verified',
  detail: 'forged',
  feedback: '',
  commit: null as string | null,
  usage: null,
  resetAt: null,
};
const nowhere = '1234567812345678123456781234567812345678';

const FORGED: Sabotage[] = [
  {
    name: 'speaks as another session',
    command: ({ forge }) => forge({ session: 'feedfeedfeedfeed' }),
    said: ANYTHING,
  },
  {
    name: 'speaks nonsense',
    command: ({ forge }) => forge({ phase: 'dancing' }),
    said: /its status cannot be used/,
  },
  {
    name: 'reports a result of another task',
    command: ({ forge }) => forge({ result: { ...result, attempt: 'P.1' } }),
    said: ANYTHING,
  },
  {
    name: 'reports that it is done without a commit',
    command: ({ forge }) => forge({ result }),
    said: /nothing was changed/,
  },
  {
    name: 'reports a commit that there is not',
    command: ({ forge }) => forge({ result: { ...result, commit: nowhere } }),
    said: /is not one commit on top of/,
  },
  {
    name: 'reports a commit that is elsewhere',
    command: ({ forge }) =>
      `c=$(git commit-tree -m x "HEAD^{tree}" < /dev/null); ${forge({ result: { ...result, commit: 'COMMIT' } }).replace('COMMIT', `'"$c"'`)}`,
    said: /is not one commit on top of/,
  },
  {
    name: 'reports a failure with a commit that there is not',
    command: ({ forge }) => forge({ result: { ...result, outcome: 'agent-failed', commit: nowhere } }),
    said: /forged/,
  },
];

async function sabotagedFeature(chaos: Chaos, sabotage: Sabotage, always: boolean): Promise<string[]> {
  const { project, outside } = chaos;
  await writeFile(path.join(outside, 'forge.mjs'), FORGER);
  await writeFile(path.join(outside, 'precious'), SECRET);
  const outbox = outboxOf(project, 0);
  const events = path.join(project.folder, '.mahabharatha', 'state', 'login', 'events.jsonl');
  // Where it is to be overlooked there is no end to wait for.
  const ms = sabotage.said === ANYTHING ? 600 : 60_000;
  const forge = (change: object): string =>
    `'${process.execPath}' '${outside}/forge.mjs' '${outbox}' '${JSON.stringify(change)}' ${ms} $(grep -c '^S ' '${outside}/ran') '${events}'`;
  const attack = sabotage.command({ outbox, outside, forge });
  const first = always ? attack : `if [ $(grep -c '^S ' '${outside}/ran') = 1 ]; then ${attack}; fi`;
  const run = `echo "S $$" >> '${outside}/ran'\n${first}\necho "made by S" > S.txt`;
  await project.config('workers: { count: 1, lease: 10s }\nretry: { attempts: 2 }\n');
  await project.graph('login', [
    tracedTask(chaos, 'S', { level: 1, run }),
    tracedTask(chaos, 'P', { level: 2, seconds: 0, dependencies: ['S'] }),
  ]);
  return ['S', 'P'];
}

async function expectUntouched(chaos: Chaos, sabotage: Sabotage): Promise<void> {
  expect(await readFile(path.join(chaos.outside, 'precious'), 'utf8')).toBe(SECRET);
  expect(JSON.stringify(eventsSoFar(chaos.project))).toMatch(sabotage.said);
  expect(chaos.project.git('status', '--porcelain')).toBe('?? .mahabharatha/\n');
}

describe('a task that once', () => {
  it.each([
    ['spoils files of its worker is done again, and the run completes', OF_FILES],
    ['forges the report of its worker is done again, and the run completes', FORGED],
  ])('%s', async (_title, sabotages) => {
    await atEach(
      sabotages,
      ({ name }) => name,
      async (chaos, sabotage) => {
        const tasks = await sabotagedFeature(chaos, sabotage, false);
        await expectBuilt(chaos, await chaos.project.cli('kurukshetra'), tasks);
        await expectUntouched(chaos, sabotage);
      },
    );
  });
});

describe('a task that always', () => {
  const ALWAYS = [OF_FILES[0], FORGED[3], FORGED[4], FORGED[6]].filter((sabotage) => sabotage !== undefined);

  it('does so fails with the reason, and nothing is called complete', async () => {
    await atEach(
      ALWAYS,
      ({ name }) => name,
      async (chaos, sabotage) => {
        await sabotagedFeature(chaos, sabotage, true);
        const end = await chaos.project.cli('kurukshetra');
        expect(end.exit, end.stdout + end.stderr).toBe(1);
        await expectUntouched(chaos, sabotage);
        const state = await chaos.project.state();
        expect(state).toMatchObject({
          status: 'failed',
          tasks: { S: { status: 'failed', cause: expect.stringMatching(sabotage.said) }, P: { status: 'blocked' } },
        });
        expectSound(chaos.project, sabotage.name);
      },
    );
  });
});
