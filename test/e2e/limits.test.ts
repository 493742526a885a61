import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { processStart } from '../../src/lib/index.ts';
import { createProject, waitFor } from '../support/project.ts';
import type { TestProject } from '../support/project.ts';
import { promptsOf, scriptedAgent } from '../support/scripted-agent.ts';

let project: TestProject;

beforeEach(async () => {
  project = await createProject();
});
afterEach(() => project.remove());

const INTEGRATION = 'mahabharatha/login/integration';

/** A process in the background, as deep and as well hidden as they come; its pid goes to a file. */
const background = (name: string): string =>
  `( setsid nohup bash -c 'trap "" TERM HUP INT; echo $$ >> "$OUTSIDE/pids-${name}"; while :; do sleep 0.2; done' >/dev/null 2>&1 & ); ` +
  `until [ -s "$OUTSIDE/pids-${name}" ]; do sleep 0.02; done`;

/** Which of the recorded processes are alive; zombies do not count. */
const WHO_LIVES =
  'for pid in $(cat "$OUTSIDE"/pids-*); do case "$(cat /proc/$pid/stat 2>/dev/null || ps -o stat= -p $pid)" in ' +
  '""|Z*|*") Z "*) ;; *) echo $pid ;; esac; done';

async function livePids(): Promise<number[]> {
  const names = ['agent', 'verify', 'idle'];
  const texts = await Promise.all(
    names.map((name) => readFile(path.join(project.outside, `pids-${name}`), 'utf8').catch(() => '')),
  );
  const pids = texts.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map(Number),
  );
  const lives = await Promise.all(pids.map(async (pid) => (await processStart(pid)) !== undefined));
  return pids.filter((_, index) => lives[index]);
}

describe('time limits', () => {
  // One limit at a time, and further attempts: on a busy machine a limit that is short strikes others too.
  it.each([
    {
      limit: 'workers: { task_timeout: 3s }',
      first: `${background('agent')}; while :; do echo still here; sleep 0.2; done`,
      end: ['timed-out', expect.stringContaining('still at work after 3 s, limit 3 s')],
    },
    {
      limit: 'workers: { idle_timeout: 1500ms }',
      first: `${background('idle')}; sleep 600`,
      end: ['idle', expect.stringContaining('no output for 1.5 s, limit 1.5 s')],
    },
    {
      limit: '',
      first: 'echo 1 > a.txt',
      verification: { command: `echo waiting; ${background('verify')}; sleep 600`, timeout_seconds: 1 },
      end: ['verification-failed', expect.stringContaining('still running after 1 s, limit 1 s')],
    },
  ])('end an attempt with everything it started: $end.0', async ({ limit, first, end, verification }) => {
    const later = Array.from({ length: 20 }, () => 'echo 2 > a.txt');
    const look = Array.from({ length: 20 }, () => `{ ${WHO_LIVES}; } > "$OUTSIDE/survivors"; echo 1 > last.txt`);
    const agent = await scriptedAgent(project, { A: [first, ...later], LAST: look });
    await project.config(`retry: { attempts: ${verification === undefined ? 20 : 1} }\n${limit}\n${agent}`);
    await project.graph('login', [
      { id: 'A', create: ['a.txt'], ...(verification === undefined ? {} : { verification }) },
      { id: 'LAST', level: 2, create: ['last.txt'] },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit, run.stdout).toBe(verification === undefined ? 0 : 1);
    const { tasks } = await project.state();
    const [attempt] = (await project.events()).filter(({ type }) => type === 'attempt-failed');
    expect(attempt).toMatchObject({ task: 'A', outcome: end[0], detail: end[1] });
    expect(tasks['LAST']?.status).toBe('complete');
    // While the run still went on, nothing of the ended attempts was there.
    expect(await readFile(path.join(project.outside, 'survivors'), 'utf8')).toBe('');
    expect(await livePids()).toEqual([]);
    expect(await project.processes()).toEqual([]);
  });

  it('of a call of the run pause it in order, and it can be resumed', async () => {
    await project.graph('login', [
      { id: 'T-1', create: ['a.txt'], run: 'echo 1 > a.txt' },
      {
        id: 'T-2',
        level: 2,
        create: ['b.txt'],
        run: `if [ -e "$OUTSIDE/go" ]; then echo 1 > b.txt; else sleep 600; fi`,
      },
    ]);

    const run = await project.cli('kurukshetra', '--max-time', '2s');

    expect(run.exit).toBe(3);
    expect(run.stdout).toMatch(/paused — time \d+ s, cap 2 s\n/);
    expect(await project.processes()).toEqual([]);
    await writeFile(path.join(project.outside, 'go'), '');
    expect((await project.cli('kurukshetra', '--resume')).exit).toBe(0);
    // Which task the limit interrupts, or none, depends on how fast the machine is.
    const { tasks } = await project.state();
    for (const { failures, attempts } of Object.values(tasks)) {
      const outcomes = attempts.map(({ outcome }) => outcome);
      expect([failures, outcomes.at(-1)]).toEqual([0, 'accepted']);
      expect(['', 'interrupted']).toContain(outcomes.slice(0, -1).join(' '));
    }
  });
});

describe('a task that leaves processes behind', () => {
  it('is accepted, and they are ended before the next task begins', async () => {
    await project.graph('login', [
      {
        id: 'T-1',
        create: ['a.txt'],
        run: `${background('agent')}; sleep 600 & echo 1 > a.txt`,
        verify: `${background('verify')}; sleep 600 &`,
      },
      { id: 'T-2', level: 2, create: ['b.txt'], run: `{ ${WHO_LIVES}; } > "$OUTSIDE/survivors"; echo 1 > b.txt` },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.exit).toBe(0);
    expect(await readFile(path.join(project.outside, 'survivors'), 'utf8')).toBe('');
    expect(await livePids()).toEqual([]);
  });

  it('leaves none when the run is stopped', async () => {
    await project.graph('login', [{ id: 'T-1', create: ['a.txt'], run: `${background('agent')}; sleep 600` }]);
    const run = project.start('kurukshetra');
    await waitFor('the background process', async () => (await livePids()).length > 0);

    const stop = await project.cli('stop');

    expect([stop.exit, stop.stdout]).toEqual([0, 'Run of "login" is stopped — asked to stop (SIGTERM).\n']);
    expect((await run.end).exit).toBe(143);
    expect(await livePids()).toEqual([]);
    expect((await project.state()).tasks['T-1']).toMatchObject({ status: 'pending', failures: 0 });
  });
});

describe('a task that uses git itself', () => {
  const GIT = 'git -c user.name=Me -c user.email=me@example.org';

  /** What tasks do to git, in words, and the shell command. All of them write their file. */
  const MISCHIEF = {
    commits: `echo half > a.txt; ${GIT} add -A; ${GIT} commit -qm half; echo whole > a.txt; ${GIT} commit -qam whole`,
    'commits and goes to another branch': `echo whole > a.txt; ${GIT} add -A; ${GIT} commit -qm it; ${GIT} switch -qc elsewhere`,
    'detaches HEAD and goes back a commit': `${GIT} checkout -q --detach; ${GIT} reset -q --soft HEAD~1; echo whole > a.txt`,
    'removes .git': 'echo whole > a.txt; rm -rf .git',
    'makes a repository of its own': `rm .git; ${GIT} init -q; echo whole > a.txt; ${GIT} add -A; ${GIT} commit -qm own`,
    'points .git elsewhere': 'echo whole > a.txt; echo "gitdir: /nowhere" > .git',
    'breaks the index': 'echo whole > a.txt; echo garbage > "$(git rev-parse --git-path index)"',
    'leaves a lock':
      'echo whole > a.txt; touch "$(git rev-parse --git-path index.lock)" "$(git rev-parse --git-path HEAD.lock)"',
    'breaks HEAD': 'echo whole > a.txt; echo garbage > "$(git rev-parse --git-path HEAD)"',
    'stops in the middle of a merge':
      `for side in one two; do ${GIT} switch -qc $side main; echo $side > old.txt; ${GIT} commit -qam $side; done; ` +
      `${GIT} merge -q one; ${GIT} checkout -q mahabharatha/login/worker-0 -- .; echo whole > a.txt`,
  };

  it('may do so freely: its files become one commit of ours, and the next task finds a clean worktree', async () => {
    await project.write('old.txt', 'old\n');
    project.commit('one');
    await project.write('old.txt', 'older\n');
    project.commit('two');
    const kinds = Object.values(MISCHIEF);
    // One worker does them one after the other, each in a level of its own.
    await project.graph(
      'login',
      kinds.map((work, index) => ({
        id: `T-${index}`,
        level: index + 1,
        create: [`a-${index}.txt`],
        run: `git status --porcelain --ignored >> "$OUTSIDE/seen"; git log -1 --format=%an >> "$OUTSIDE/seen"; ${work.replaceAll('a.txt', `a-${index}.txt`)}`,
      })),
    );

    const run = await project.cli('kurukshetra', '--workers', '1');

    expect(run.stdout).toContain(`${kinds.length} of ${kinds.length} tasks are merged`);
    const { tasks } = await project.state();
    expect(Object.entries(tasks).map(([id, task]) => [id, task.attempts.map(({ detail }) => detail)])).toEqual(
      kinds.map((_, index) => [`T-${index}`, ['the run command: exit status 0; there is no verification']]),
    );
    const files = project.git('diff', '--name-only', 'main', INTEGRATION).trim().split('\n');
    expect(files).toEqual(kinds.map((_, index) => `a-${index}.txt`).toSorted());
    for (const index of kinds.keys()) expect(project.git('show', `${INTEGRATION}:a-${index}.txt`)).toBe('whole\n');
    const authors = project.git('log', '--no-merges', '--format=%an', `main..${INTEGRATION}`).trim().split('\n');
    expect(authors).toEqual(kinds.map(() => 'Mahabharatha'));
    expect(await readFile(path.join(project.outside, 'seen'), 'utf8')).toBe(
      ['Test User', ...kinds.slice(1).map(() => 'Mahabharatha')].map((name) => `${name}\n`).join(''),
    );
    expect(project.git('status', '--porcelain')).toBe('?? .mahabharatha/\n');
  });
});

const meet = (id: string): string =>
  `touch "$OUTSIDE/${id}"; until [ -e "$OUTSIDE/ONE" ] && [ -e "$OUTSIDE/TWO" ]; do sleep 0.02; done`;

describe('two tasks that change the same lines', () => {
  it('conflict, with the file and both names, and both are merged when the second is done again on top of the first', async () => {
    const again = 'echo "and more" >> README.md';
    await project.config(
      `ownership: off\n${await scriptedAgent(project, {
        ONE: [`${meet('ONE')}; echo one > README.md`, again],
        TWO: [`${meet('TWO')}; echo two > README.md`, again],
      })}`,
    );
    await project.graph('login', [
      { id: 'ONE', create: ['one.txt'] },
      { id: 'TWO', create: ['two.txt'] },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(0);
    const { tasks } = await project.state();
    const [loser, winner] = tasks['ONE']?.attempts.length === 2 ? ['ONE', 'TWO'] : ['TWO', 'ONE'];
    expect(tasks[loser]?.attempts.map(({ outcome }) => outcome)).toEqual(['conflict', 'accepted']);
    expect(tasks[winner]?.attempts.map(({ outcome }) => outcome)).toEqual(['accepted']);
    expect(run.stdout).toContain(`${loser} attempt 1 failed (conflict): conflict with ${winner} in README.md`);
    const prompts = await promptsOf(project, loser);
    expect(prompts[1]).toContain(`conflict with ${winner} in README.md`);
    expect(project.git('show', `${INTEGRATION}:README.md`)).toBe(`${winner.toLowerCase()}\nand more\n`);
  });

  it('end the run with exit 1 when there is no try left, and the first one is merged', async () => {
    await project.config('ownership: off\nretry: { attempts: 1 }\n');
    await project.graph('login', [
      { id: 'ONE', create: ['one.txt'], run: `${meet('ONE')}; echo one > README.md` },
      { id: 'TWO', create: ['two.txt'], run: `${meet('TWO')}; echo two > README.md` },
    ]);

    const run = await project.cli('kurukshetra', '--workers', '2');

    expect(run.exit).toBe(1);
    expect(run.stdout).toMatch(/(ONE|TWO) is failed: failed 1 of 1 times; last: conflict with (ONE|TWO) in README\.md/);
    expect(project.git('show', `${INTEGRATION}:README.md`)).toMatch(/^(one|two)\n$/);
  });
});
