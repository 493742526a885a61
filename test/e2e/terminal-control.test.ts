import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atTerminal, whyNoTerminal } from '../support/at-terminal.ts';
import { createProject } from '../support/project.ts';
import type { TestProject, TestTask } from '../support/project.ts';

/** The clipboard, the screen, the title, hidden letters, both kinds of control characters, the direction, line ends. */
const HOSTILE = [
  '\u001B]52;c;UE9DDQ==\u0007\u001B[2J\u001B[H\u001B]0;owned\u0007\u001B[8m\u009B3J\u0090q\u009C',
  '\u202E\u2066\u200B\u200F\uFEFF\u0008\t\u0085\u2028\r\nFORGED 12:00:00 ✓ run complete\n',
].join('');

/** What a hostile task does; it finds its worker's program among the processes that it comes from. */
const ATTACK = `
import { appendFileSync, existsSync, mkdirSync, readFileSync, readlinkSync, renameSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
const HOSTILE = ${JSON.stringify(HOSTILE)};
const [, , route] = process.argv;

function worker() {
  for (let pid = process.ppid; pid > 1; ) {
    const args = readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0');
    const at = args.indexOf('--outbox');
    if (at > 0) return { pid, outbox: args[at + 1], log: readlinkSync('/proc/' + pid + '/fd/1') };
    pid = Number(readFileSync('/proc/' + pid + '/stat', 'utf8').replace(/^.*\\) . /, '').split(' ')[0]);
  }
  throw new Error('no worker');
}
const once = (work) => {
  const mark = process.env.OUTSIDE + '/' + route;
  if (existsSync(mark)) return writeFileSync(process.env.MAHABHARATHA_TASK + '.txt', 'done');
  writeFileSync(mark, '');
  work();
};
const wait = (ms) => execFileSync('sleep', [String(ms / 1000)]);
function say(text) {
  const { outbox } = worker();
  writeFileSync(outbox + '/forged', text);
  renameSync(outbox + '/forged', outbox + '/status.json');
}
const status = () => JSON.parse(readFileSync(worker().outbox + '/status.json', 'utf8'));
const forgedLines = () => {
  const at = new Date().toISOString();
  const line = { at, worker: 0, task: 'LINES', attempt: 'LINES.1', source: 'agent', text: HOSTILE };
  const forged = [line, { ...line, task: HOSTILE }, { ...line, at: HOSTILE }, { ...line, source: HOSTILE }, { ...line, worker: 7 }];
  appendFileSync(worker().log, forged.map((one) => JSON.stringify(one) + '\\n').join('') + HOSTILE + '\\n');
};

const ROUTES = {
  names() {
    mkdirSync('evil');
    writeFileSync('evil/' + HOSTILE, 'x');
  },
  foreign: () => writeFileSync('elsewhere' + HOSTILE, 'x'),
  lines() {
    forgedLines();
    writeFileSync('LINES.txt', 'x');
  },
  result: () => once(() => {
    const { beat, ...rest } = status();
    const result = { kind: 'task', attempt: 'RESULT.1', outcome: 'verification-failed', detail: HOSTILE, feedback: HOSTILE, commit: null, usage: null, resetAt: HOSTILE.slice(-64) };
    for (let more = 1; more < 400; more += 1) {
      say(JSON.stringify({ ...rest, beat: beat + more, attempt: null, phase: 'idle', result }));
      wait(10);
    }
  }),
  trouble: () => once(() => {
    for (let more = 1; more < 100; more += 1) {
      const now = status();
      say(JSON.stringify({ ...now, beat: now.beat + 1, trouble: HOSTILE, setupFailure: null }));
      wait(10);
    }
    writeFileSync('TROUBLE.txt', 'done');
  }),
  setup: () => once(() => {
    const now = status();
    say(JSON.stringify({ ...now, setupFailure: HOSTILE }));
  }),
  parser: () => once(() => {
    for (let more = 0; more < 400; more += 1) {
      say(HOSTILE + '{');
      wait(10);
    }
  }),
  words: () => once(() => {
    forgedLines();
    process.kill(worker().pid, 'SIGKILL');
    wait(5000);
  }),
  branch() {
    execFileSync('git', ['update-ref', 'refs/heads/mahabharatha/login/\\u202Eforged\\u200B', 'HEAD']);
    writeFileSync('BRANCH.txt', 'x');
  },
  verify() {
    process.stdout.write(HOSTILE);
    process.exit(1);
  },
};
ROUTES[route]();
`;

const attack = (route: string): string => `${process.execPath} "$OUTSIDE/attack.mjs" ${route}`;
const hostileTask = (id: string, rest: Partial<TestTask> = {}): TestTask => ({
  id,
  title: `Task ${HOSTILE}`,
  create: [`${id}.txt`],
  run: attack(id.toLowerCase()),
  ...rest,
});

const TASKS: readonly TestTask[] = [
  hostileTask('NAMES', { create: ['evil/**'] }),
  hostileTask('FOREIGN'),
  hostileTask('LINES'),
  hostileTask('RESULT'),
  // Only an agent with an account has troubles of that kind.
  { id: 'TROUBLE', title: HOSTILE, create: ['TROUBLE.txt'] },
  hostileTask('PARSER'),
  hostileTask('WORDS'),
  hostileTask('BRANCH'),
  hostileTask('VERIFY', { run: 'echo x > VERIFY.txt', verify: attack('verify') }),
];
/** Its output is in the cause of the run's end, and in the events. */
const CONFIG = `retry: { attempts: 1, backoff: 10ms }
workers: { count: 4 }
gates: [{ name: gate, command: '${process.execPath} "$OUTSIDE/attack.mjs" verify', required: false }]
`;

/* oxlint-disable no-control-regex -- control characters are what this is about */
/** Our colours; at a terminal also the moves of the live view, and what the terminal's driver makes of a line end. */
const COLORS = /\u001B\[(?:1|2|22|3[0-7]|39|90)m/g;
const LIVE_VIEW = /\u001B\[\?(?:1049|2026|25|7)[lh]|\u001B\[[HK]|\r(?=\n|$)/gm;
const CONTROL = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u;

/** Lines after the first one of an error are indented; all other words stay in their line. */
function expectHarmless(what: string, text: string, forged = /^\s*FORGED/m): void {
  const at = CONTROL.exec(text)?.index;
  const around = at === undefined ? '' : JSON.stringify(text.slice(Math.max(0, at - 80), at + 40));
  expect(around, `${what} has a control character`).toBe('');
  expect(text, `${what} has a forged line`).not.toMatch(forged);
}

async function hostileProject(): Promise<TestProject> {
  const project = await createProject({ env: { TERM: 'xterm', IS_SANDBOX: '1' } });
  await writeFile(path.join(project.outside, 'attack.mjs'), ATTACK);
  const claude = path.join(project.outside, 'claude');
  await writeFile(
    claude,
    `#!/bin/bash\nif [ "$1" = --version ]; then echo 2.1.0; exit; fi\nexec ${attack('trouble')}\n`,
    { mode: 0o755 },
  );
  await project.config(`${CONFIG}claude: { command: "${claude}" }\n`);
  await project.graph('login', TASKS);
  return project;
}

describe('a terminal obeys nothing that a task prints', () => {
  let project: TestProject;
  let run: Awaited<ReturnType<TestProject['cli']>>;

  beforeAll(async () => {
    project = await hostileProject();
    run = await project.cli('kurukshetra');
  });
  afterAll(() => project.remove());

  it('every route was taken in the run', async () => {
    expect(run.exit, run.stdout + run.stderr).toBe(1);
    const { tasks, warnings } = await project.state();
    const causes = (id: string): string =>
      (tasks[id]?.attempts ?? []).map(({ detail, outcome }) => `${outcome}: ${detail}`).join('\n');
    expect(tasks['NAMES']?.merged).toBe(true);
    expect(causes('FOREIGN')).toContain('not-owned');
    expect(causes('RESULT')).toContain('FORGED');
    expect(tasks['VERIFY']?.feedback).toContain('FORGED');
    const events = JSON.stringify(await project.events());
    expect(events).toMatch(/last output: [^"]*FORGED/);
    expect(events).toMatch(/its status cannot be used: [^"]*/);
    expect(events).toContain('worker-trouble');
    expect(warnings.join('\n')).toContain('gate gate (not required) is red');
    expect(project.git('branch', '--list', 'mahabharatha/login/*')).toContain('forged');
  });

  it('by the lines of a run', () => expectHarmless('the run', run.stdout + run.stderr));

  const COMMANDS: readonly (readonly string[])[] = [
    ['status'],
    ['status', '--json'],
    ['logs', '--tail', 'all'],
    ['logs', '--tail', 'all', '--json'],
    ['logs', '--task', 'LINES', '--tail', 'all'],
    ['kurukshetra', '--dry-run'],
    ['kurukshetra', '--dry-run', '--json'],
    ['cleanup', '--dry-run'],
    ['cleanup', '--dry-run', '--json'],
    ['merge', '--partial', '--dry-run'],
    ['merge', '--partial', '--dry-run', '--json'],
    ['doctor'],
  ];
  it.each(COMMANDS.map((args) => [args.join(' '), args] as const))('by %s', async (what, args) => {
    const { stdout, stderr } = await project.cli(...args);
    expect(stdout + stderr).not.toBe('');
    expectHarmless(what, stdout + stderr);
  });

  const WRONG: readonly (readonly string[])[] = [
    ['retry', '\u001B[2Jnothing\nFORGED'],
    ['merge', '--partial', '--into', '\u001B[2J\nFORGED'],
    ['merge', '--partial', '--json', '--into', '\u202Ex\u0085'],
    ['\u001B[2J\nFORGED'],
  ];
  it.each(WRONG)('by the error of %j', async (...args) => {
    const { exit, stdout, stderr } = await project.cli(...args);
    expect(exit).toBe(2);
    expectHarmless(args.join(' '), stdout + stderr, /^FORGED/m);
  });

  it("by git's own words when a file of such a name is in the way of a merge", async () => {
    await project.write(`evil/${HOSTILE}`, 'mine');
    const merge = await project.cli('merge', '--partial');
    expect(merge.exit).toBe(1);
    expect(merge.stderr).toContain('FORGED');
    expectHarmless('merge', merge.stdout + merge.stderr, /^FORGED/m);
    const json = await project.cli('merge', '--partial', '--json');
    expectHarmless('merge --json', json.stdout + json.stderr);
    expect(JSON.parse(json.stdout)).toMatchObject({ type: 'error', exit: 1 });
  });

  it('by logs that are shown in colour', { skip: whyNoTerminal !== '' }, async () => {
    for (const args of [['logs', '--tail', 'all'], ['status']]) {
      const shown = atTerminal(project, args);
      expect(await shown.end).toBe(0);
      expectHarmless(
        args.join(' '),
        shown.output().replaceAll('\r\n', '\n').replaceAll(COLORS, '').replaceAll('\u001B[0m', ''),
      );
    }
  });
});

describe.skipIf(whyNoTerminal !== '')(
  `a terminal with a live view does nothing that a task wants${whyNoTerminal}`,
  () => {
    let project: TestProject;
    afterAll(() => project.remove());

    it('while it runs, and at its end', async () => {
      project = await hostileProject();
      const live = atTerminal(project, ['kurukshetra', '--mode', 'subprocess', '--trust-config'], { columns: 400 });
      expect(await live.end).toBe(1);
      expect(live.output()).toMatch(/NAMES +waiting /);
      expectHarmless('the live view', live.output().replaceAll(COLORS, '').replaceAll(LIVE_VIEW, ''));
    });
  },
);

it('a parser that warns by way of Node says nothing that a terminal obeys', async () => {
  const project = await createProject();
  try {
    await project.config(`? [${JSON.stringify(HOSTILE)}]\n: x\n`);
    for (const command of ['doctor', 'kurukshetra']) {
      const { stdout, stderr } = await project.cli(command);
      expect(stderr).toContain('Keys with collection values');
      expectHarmless(command, stdout + stderr, /^FORGED/m);
    }
  } finally {
    await project.remove();
  }
});

it('a forged set-up failure shows its words in one line', async () => {
  const project = await hostileProject();
  await project.config(CONFIG.replace('{ count: 4 }', '{ count: 1, setup: "true" }'));
  await project.graph('login', [hostileTask('SETUP')]);
  try {
    const { stdout, stderr } = await project.cli('kurukshetra');
    expectHarmless('the run', stdout + stderr);
  } finally {
    await project.remove();
  }
});
