import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createContainerProject } from '../support/container-project.ts';
import type { ContainerProject } from '../support/container-project.ts';
import { witness } from '../support/host-witness.ts';
import type { TestTask } from '../support/project.ts';
import { buildWorkerImage, docker, whySkipped } from '../support/worker-image.ts';

const OUTBOX = '/run/mahabharatha/outbox';
const STATUS = `${OUTBOX}/status.json`;
const BUNDLE = `${OUTBOX}/work.bundle`;

/** A verification runs after the work is committed, and before the result is reported. */
const swapping = (id: string, swap: string): TestTask => ({
  id,
  create: [id],
  run: `echo ${id} > ${id}`,
  verify: swap,
});

/** Only in a task's first attempt: what comes of it is seen, and the run goes on. */
const once = (id: string, attack: string): TestTask => ({
  id,
  create: [id],
  run: `if grep -q '"attempt":"${id}.1"' /run/mahabharatha/inbox/assignment.json; then ${attack}; else echo ${id} > ${id}; fi`,
});

/**
 * Reports again and again, as the worker in whose container it runs, that an attempt has ended so. What is believed, or
 * refused, ends the container.
 */
const claiming = (attempt: string, outcome: string, commit: string, ms = 600_000): string => `
cat > /tmp/claim.mjs <<'END'
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
const [,, attempt, outcome, commit] = process.argv;
const status = JSON.parse(readFileSync('${STATUS}', 'utf8'));
const result = { kind: 'task', attempt, outcome, detail: 'forged', feedback: '', commit: commit || null, usage: null, resetAt: null };
for (const end = Date.now() + ${ms}; Date.now() < end; execFileSync('sleep', ['0.05'])) {
  status.beat += 1;
  writeFileSync('/run/mahabharatha/outbox/claim', JSON.stringify({ ...status, phase: 'idle', attempt: null, result }));
  renameSync('/run/mahabharatha/outbox/claim', '${STATUS}');
}
END
node /tmp/claim.mjs ${attempt} ${outcome} "${commit}"`;

/** Changes the phase of its worker as fast as it can. */
const RESTLESS = `
cat > /tmp/restless.mjs <<'END'
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
const status = JSON.parse(readFileSync('${STATUS}', 'utf8'));
for (const end = Date.now() + 2000; Date.now() < end; )
  for (const phase of ['setup', 'idle', 'running']) {
    writeFileSync('${OUTBOX}/phase', JSON.stringify({ ...status, beat: (status.beat += 1), phase }));
    renameSync('${OUTBOX}/phase', '${STATUS}');
  }
END
node /tmp/restless.mjs; echo r > r.txt`;

/** 140,000 paths of about 3,900 bytes, in a few kilobytes. */
const MANY_PATHS = `
b=$(echo x | git hash-object -w --stdin)
t=$(for n in {1000..1999}; do printf "100644 blob $b\t%0240d\n" $n; done | git mktree)
for n in {1..14}; do t=$(printf "040000 tree $t\t%0250d\n" 0 | git mktree); done
t=$(for n in {100..239}; do printf "040000 tree $t\t$n\n"; done | git mktree)
git update-ref HEAD $(git commit-tree $t -p HEAD~1 -m x)
git bundle create --quiet ${BUNDLE} HEAD $(git symbolic-ref HEAD) ^HEAD~1`;

describe.skipIf(docker.why !== '')(`an outbox that a hostile task has written${whySkipped}`, () => {
  let project: ContainerProject;
  beforeAll(buildWorkerImage);
  afterEach(async () => {
    expect(project.leftovers()).toEqual([]);
    await project.remove();
  });

  /** Runs these tasks with a try each; returns what was written down of each task's end. */
  async function run(tasks: readonly TestTask[], config = '', workers = 2): Promise<Record<string, string>> {
    await project.config(`${await project.read('.mahabharatha/config.yaml')}retry: { attempts: 1 }\n${config}`);
    await project.graph('login', tasks);
    const before = witness(project);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', String(workers));
    expect(exit, stdout).toBe(1);
    expect(witness(project)).toEqual(before);
    project.git('fsck', '--strict', '--no-dangling');
    const state = await project.state();
    return Object.fromEntries(
      Object.entries(state.tasks).map(([id, { status, cause }]) => [id, status === 'failed' ? (cause ?? '') : status]),
    );
  }

  it('may have anything as its bundle: its task fails with the reason, and nothing else is harmed', async () => {
    // The verification is where the commit is there already.
    project = await createContainerProject({ container: 'network: none\nverification: same-container' });
    const host = `${project.inWorkers('login')}/$(git symbolic-ref HEAD | grep -o '[0-9]*$')/git`;
    const other = (ref: string): string =>
      `git update-ref ${ref} HEAD && git bundle create --quiet ${BUNDLE} ${ref} ^HEAD~1`;
    const ends = await run([
      swapping('LINK', `ln -sf /etc/passwd ${OUTBOX}/x; mv -T ${OUTBOX}/x ${BUNDLE}`),
      swapping('PIPE', `rm ${BUNDLE}; mkfifo ${BUNDLE}`),
      swapping('GONE', `rm ${BUNDLE}`),
      swapping('HUGE', `truncate -s 9G ${BUNDLE}`),
      swapping('HOLES', `truncate -s 1G ${BUNDLE}`),
      swapping('HALF', `truncate -s -20 ${BUNDLE}`),
      swapping('ELSEWHERE', `echo "gitdir: ${host}" > ${BUNDLE}`),
      swapping('MAIN', other('refs/heads/main')),
      swapping('INTEGRATION', other('refs/heads/mahabharatha/login/integration')),
      swapping(
        'NOT-A-COMMIT',
        `git commit --quiet --amend --message other; git bundle create --quiet ${BUNDLE} HEAD $(git symbolic-ref HEAD) ^HEAD~1`,
      ),
      swapping('PATHS', MANY_PATHS),
      { id: 'INNOCENT', create: ['i.txt'], run: 'echo i > i.txt' },
    ]);
    const { INNOCENT, ...others } = ends;
    expect(INNOCENT).toBe('complete');
    expect(project.git('show', 'mahabharatha/login/integration:i.txt')).toBe('i\n');
    expect(others).toEqual({
      LINK: expect.stringMatching(/could not be fetched from its bundle: .*ELOOP/),
      PIPE: expect.stringMatching(/could not be fetched from its bundle: .*not a plain file/),
      GONE: expect.stringContaining('came without the bundle that it should be in'),
      HUGE: expect.stringMatching(/could not be fetched from its bundle: .*it has 9663676416 bytes, the limit is/),
      HOLES: expect.stringMatching(/could not be fetched from its bundle: .*index-pack/s),
      HALF: expect.stringMatching(/could not be fetched from its bundle: .*index-pack/s),
      ELSEWHERE: expect.stringContaining('it is not a git bundle'),
      MAIN: expect.stringMatching(/there is no refs\/heads\/mahabharatha\/login\/worker-\d in this bundle/),
      INTEGRATION: expect.stringMatching(/there is no refs\/heads\/mahabharatha\/login\/worker-\d in this bundle/),
      'NOT-A-COMMIT': expect.stringContaining('is not what its bundle brought'),
      PATHS: expect.stringMatching(/changes too many paths, or too long ones: the list of them has more than 64 MiB/),
    });
  });

  it('may have forged results: a worker reports only its own attempt, and the repository must confirm it', async () => {
    project = await createContainerProject();
    const ends = await run([
      { id: 'LIAR', create: ['l.txt'], run: claiming('VICTIM.1', 'credentials', '', 2500) },
      { id: 'VICTIM', create: ['v.txt'], run: 'sleep 2; echo v > v.txt' },
      { id: 'BASE', create: ['b.txt'], run: claiming('BASE.1', 'verified', '$(git rev-parse HEAD)') },
      {
        id: 'NOBODY',
        create: ['n.txt'],
        run: claiming('NOBODY.1', 'verified', '1234567890123456789012345678901234567890'),
      },
      { id: 'NOTHING', create: ['o.txt'], run: claiming('NOTHING.1', 'verified', '') },
    ]);
    // What its worker did before is in the outbox still, if it did anything.
    const noWork = /the reported commit [0-9a-f]{12} (came without the bundle|is not what its bundle brought)/;
    expect(ends).toEqual({
      LIAR: expect.stringContaining('nothing was changed'),
      VICTIM: 'complete',
      BASE: expect.stringMatching(noWork),
      NOBODY: expect.stringMatching(noWork),
      NOTHING: expect.stringContaining('nothing was changed; expected changes to o.txt'),
    });
    expect(project.git('show', 'mahabharatha/login/integration:v.txt')).toBe('v\n');
  });

  it('may show another phase at each look: that neither fills the log nor holds up other workers', async () => {
    project = await createContainerProject();
    await project.graph('login', [
      { id: 'RESTLESS', create: ['r.txt'], run: RESTLESS },
      { id: 'INNOCENT', create: ['i.txt'], run: 'echo i > i.txt' },
    ]);
    const { exit, stdout } = await project.cli('kurukshetra', '--workers', '2');
    expect(exit, stdout).toBe(0);
    const phases = (await project.events()).filter(({ type }) => type === 'worker-phase');
    expect(phases.length).toBeLessThanOrEqual(20);
  });

  it('may have an unreadable status, or a stopped or killed worker: the worker is replaced, and the task goes on', async () => {
    project = await createContainerProject({ workers: 'lease: 10s' });
    // The worker itself writes it several times in a second.
    const put = (make: string): string => `while :; do ${make}; mv -T ${OUTBOX}/x ${STATUS}; sleep 0.05; done`;
    const attacks: Record<string, readonly [attack: string, told: RegExp]> = {
      LINK: [put(`ln -s /etc/passwd ${OUTBOX}/x`), /status cannot be used: .*ELOOP/],
      LONG: [
        put(`head -c 9000000 /dev/zero > ${OUTBOX}/x`),
        /status cannot be used: .*it has 9000000 bytes, the limit is/,
      ],
      TYPES: [put(`echo '{"version":1,"pid":"x"}' > ${OUTBOX}/x`), /status cannot be used: .*expected/s],
      FOLDER: [put(`rm -rf ${STATUS}; mkdir -p ${OUTBOX}/x/x`), /status cannot be used: .*not a plain file/],
      STOPPED: ['kill -STOP $PPID; sleep 3600', /no heartbeat for [\d.]+ s, limit 20 s/],
      KILLED: ['kill -KILL $PPID; sleep 3600', /killed by SIGKILL/],
    };
    const failing = { id: 'FAILING', create: ['f.txt'], run: 'exit 1' };
    const ends = await run([...Object.entries(attacks).map(([id, [attack]]) => once(id, attack)), failing]);
    expect(ends).toEqual({
      ...Object.fromEntries(Object.keys(attacks).map((id) => [id, 'complete'])),
      FAILING: expect.stringContaining('exit status 1'),
    });
    const { tasks } = await project.state();
    const told = Object.keys(attacks).map((id) => [
      id,
      tasks[id]?.attempts[0]?.outcome,
      tasks[id]?.attempts[0]?.detail,
    ]);
    expect(told).toEqual(Object.entries(attacks).map(([id, [, words]]) => [id, 'lost', expect.stringMatching(words)]));
  });

  it('or a broken git directory is replaced for the next task of that worker', async () => {
    project = await createContainerProject();
    const sabotage = {
      BUNDLE: `mkdir -p ${BUNDLE}/x`,
      GITDIR: 'rm -rf /gitdir/*',
      CONFIG: 'echo "[" > /gitdir/config',
      OBJECTS: 'rm -rf /gitdir/objects; touch /gitdir/objects',
      RIGHTS: 'chmod 0 /gitdir /workspace',
      DEPTH: `rm -f ${BUNDLE}; mkdir -p ${BUNDLE}/x; cd ${OUTBOX}; for _ in {1..999}; do mkdir abcdefghij; cd abcdefghij; done`,
    };
    const tasks = Object.entries(sabotage).flatMap(([id, run]) => [
      { id, create: [id], run: `echo x > ${id}; ${run}` },
      { id: `AFTER-${id}`, create: [`${id}.txt`], run: `echo ${id} > ${id}.txt` },
    ]);
    const ends = await run(tasks, '', 1);
    for (const id of Object.keys(sabotage)) {
      expect(ends[`AFTER-${id}`], JSON.stringify(ends)).toBe('complete');
      expect(ends[id]).toMatch(/failed 1 of 1 times/);
    }
  });

  it('or a git directory with filters does not change the next task of that worker', async () => {
    project = await createContainerProject();
    const filter = `filter.evil.clean 'sed s/good/evil/'`;
    const plant = `git config ${filter}; git config --global ${filter}; git config core.attributesFile /gitdir/attributes
      for file in /gitdir/attributes /gitdir/info/attributes; do echo '*.txt filter=evil' > $file; done`;
    const ends = await run(
      [
        { id: 'PLANT', create: ['p'], run: `echo p > p; ${plant}` },
        { id: 'NEXT', create: ['n.txt'], run: 'echo good > n.txt', verify: 'grep good n.txt' },
        { id: 'FAILING', create: ['f'], run: 'exit 1' },
      ],
      '',
      1,
    );
    expect(ends).toMatchObject({ PLANT: 'complete', NEXT: 'complete' });
    expect(project.git('show', 'mahabharatha/login/integration:n.txt')).toBe('good\n');
  });
});
