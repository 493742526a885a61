import { access, readdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import { asAppError } from '../lib/index.ts';
import type { Engine } from '../engines/index.ts';
import { imageRequest } from './build-image.ts';
import { agentProblem, findProgram } from './check-agent.ts';
import type { CliContext, CommandInput } from './command.ts';
import { loadGraph } from './load-graph.ts';
import { openProject } from './project.ts';
import type { Project } from './project.ts';
import { colorsFor } from './render/colors.ts';
import { agentSpec } from './wire.ts';

interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'note' | 'bad';
  readonly found: string;
  /** How to mend it. */
  readonly remedy: string | null;
}

const LOW_DISK_BYTES = 1024 ** 3;

/** `doctor`: every check answers, also when another has failed. */
export async function examine(input: CommandInput, context: CliContext): Promise<number> {
  const findings: Finding[] = [checkNode()];
  const opened = await attempt('git and repository', async () => openProject(context));
  findings.push(await checkBash(context));
  if ('problem' in opened) findings.push(opened.problem);
  else findings.push(...(await checkProject(opened.value, context)));
  const bad = findings.some((finding) => finding.state === 'bad');
  context.out(
    input['json'] === true
      ? `${JSON.stringify({ type: 'doctor', ok: !bad, findings })}\n`
      : format(findings, context.color),
  );
  return bad ? 4 : 0;
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const old = major < 20 || (major === 20 && minor < 19);
  return old
    ? { what: 'node', state: 'bad', found: process.version, remedy: 'Install Node 20.19 or newer.' }
    : { what: 'node', state: 'ok', found: process.version, remedy: null };
}

async function checkBash({ env }: CliContext): Promise<Finding> {
  const file = await findProgram('bash', env);
  return file === undefined
    ? {
        what: 'bash',
        state: 'bad',
        found: 'not on the PATH',
        remedy: 'Install bash: commands of tasks and gates run through it.',
      }
    : { what: 'bash', state: 'ok', found: file, remedy: null };
}

async function checkProject(project: Project, context: CliContext): Promise<Finding[]> {
  const version = (await project.repository.git.text(['version'])).trim().replace('git version ', '');
  return [
    { what: 'git', state: 'ok', found: version, remedy: null },
    { what: 'repository', state: 'ok', found: project.repository.root, remedy: null },
    await checkDisk(project.repository.root),
    await checkConfig(project),
    await checkAgentOf(project, context),
    await checkCredentials(context),
    ...(await checkGraphs(project)),
    ...(await checkContainers(context)),
  ];
}

async function checkDisk(root: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(root);
  const free = `${((bavail * bsize) / LOW_DISK_BYTES).toFixed(1)} GiB free`;
  return bavail * bsize < LOW_DISK_BYTES
    ? { what: 'disk', state: 'bad', found: free, remedy: 'Make room: every worker has a checkout of its own.' }
    : { what: 'disk', state: 'ok', found: free, remedy: null };
}

async function checkConfig(project: Project): Promise<Finding> {
  const loaded = await attempt('config', () => project.config());
  return 'problem' in loaded
    ? loaded.problem
    : { what: 'config', state: 'ok', found: project.paths.config, remedy: null };
}

async function checkAgentOf(project: Project, { env }: CliContext): Promise<Finding> {
  const loaded = await attempt('agent', async () => {
    const config = await project.config();
    return agentSpec(config, config.agent);
  });
  if ('problem' in loaded) return loaded.problem;
  const problem = await agentProblem(loaded.value, env);
  const name = loaded.value.kind === 'command' ? loaded.value.name : loaded.value.kind;
  return problem === undefined
    ? { what: 'agent', state: 'ok', found: name, remedy: null }
    : {
        what: 'agent',
        state: 'note',
        found: `${name}: ${problem.reason}`,
        remedy: `${problem.remedy} Tasks with a "run" command need no agent.`,
      };
}

/** Whether there are any, never what they are. */
async function checkCredentials({ env }: CliContext): Promise<Finding> {
  for (const name of ['CLAUDE_CODE_OAUTH_TOKEN', 'ANTHROPIC_API_KEY']) {
    if ((env[name] ?? '') !== '') return { what: 'credentials', state: 'ok', found: `${name} is set`, remedy: null };
  }
  const file = path.join(env['CLAUDE_CONFIG_DIR'] ?? path.join(env['HOME'] ?? '/', '.claude'), '.credentials.json');
  const there = await access(file).then(
    () => true,
    () => false,
  );
  if (there) return { what: 'credentials', state: 'ok', found: file, remedy: null };
  const remedy =
    'For Claude Code: run "claude" once and log in, or set ANTHROPIC_API_KEY. (A login in the macOS keychain is not seen here.)';
  return { what: 'credentials', state: 'note', found: 'none found', remedy };
}

/** Not needed yet: workers in containers come next, their images are there already. */
async function checkContainers(context: CliContext): Promise<Finding[]> {
  const { searchEngine } = await import('../engines/index.ts');
  const { engine, lines } = await searchEngine(context.env);
  if (engine === undefined) {
    return [
      {
        what: 'engine',
        state: 'note',
        found: lines.join('\n'),
        remedy: 'Start Docker, or say where it is with DOCKER_HOST.',
      },
    ];
  }
  const reached = await attempt('engine', () => engine.info());
  if ('problem' in reached) return [{ ...reached.problem, state: 'note' }];
  const { version, endpoint } = reached.value;
  const found: Finding = {
    what: 'engine',
    state: 'ok',
    found: `${engine.name} ${version} at ${endpoint}`,
    remedy: null,
  };
  return [found, await checkImage(engine, context)];
}

async function checkImage(engine: Engine, context: CliContext): Promise<Finding> {
  const { findRunImage } = await import('../images/index.ts');
  const found = await attempt('image', async () => findRunImage(engine, await imageRequest({}, context)));
  if ('problem' in found) return { ...found.problem, state: 'note' };
  const { state } = found.value;
  switch (state.state) {
    case 'fresh':
      return { what: 'image', state: 'ok', found: state.tag, remedy: null };
    case 'stale':
      return {
        what: 'image',
        state: 'note',
        found: `stale: ${state.reasons.join('; ')}`,
        remedy: 'Build it with: mahabharatha build',
      };
    case 'missing':
      return { what: 'image', state: 'note', found: 'not built', remedy: 'Build it with: mahabharatha build' };
  }
}

async function checkGraphs(project: Project): Promise<Finding[]> {
  const entries = await readdir(project.paths.specs, { withFileTypes: true }).catch(() => []);
  return Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => {
        const what = `feature ${name}`;
        const loaded = await attempt(what, () => loadGraph(project.paths.feature(name).graph));
        if ('problem' in loaded) return loaded.problem;
        const { tasks, levels } = loaded.value.graph;
        return { what, state: 'ok' as const, found: `${tasks.length} tasks in ${levels.length} levels`, remedy: null };
      }),
  );
}

async function attempt<Value>(
  what: string,
  work: () => Promise<Value>,
): Promise<{ value: Value } | { problem: Finding }> {
  try {
    return { value: await work() };
  } catch (error) {
    const { message, hint } = asAppError(error);
    return { problem: { what, state: 'bad', found: message, remedy: hint } };
  }
}

function format(findings: readonly Finding[], color: boolean): string {
  const colors = colorsFor(color);
  const paint = { ok: colors.green('✓'), note: colors.yellow('!'), bad: colors.red('✗') };
  const width = Math.max(...findings.map(({ what }) => what.length));
  return findings
    .map(({ what, state, found, remedy }) => {
      const indented = found.replaceAll('\n', `\n${' '.repeat(width + 4)}`);
      return `${paint[state]} ${what.padEnd(width)}  ${indented}\n${remedy === null ? '' : `${' '.repeat(width + 4)}${colors.dim(`→ ${remedy}`)}\n`}`;
    })
    .join('');
}
