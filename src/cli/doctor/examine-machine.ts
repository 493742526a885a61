import { access, readdir, statfs } from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../../config/index.ts';
import { findAgentCredentials } from '../../credentials/index.ts';
import { counted, inBytes, line, printableBlock, printableJson, printableLines, run } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import {
  agentProblem,
  agentSpec,
  allowedFolders,
  checkedMounts,
  findProgram,
  loadGraph,
  inWords,
  openProject,
  placeWorkers,
  readSettings,
} from '../../project/index.ts';
import type { ConfigWishes, Project } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { doctor } from '../commands/doctor.ts';
import { examineContainers } from './examine-containers.ts';
import { attempt, fine } from './finding.ts';
import type { Finding } from './finding.ts';
import { checkRunPlace } from '../../state/index.ts';
import { colorsFor } from '../render/colors.ts';

const LOW_DISK_BYTES = 1024 ** 3;

/** `doctor`: every check answers, also when another has failed. */
export async function examine(input: InputOf<typeof doctor>, context: CliContext): Promise<number> {
  const opened = await attempt('git and repository', async () => openProject(context));
  const findings = [
    checkNode(),
    await checkBash(context),
    ...('problem' in opened
      ? [opened.problem, ...(await examineContainers(undefined, context, undefined)).findings]
      : await checkProject(opened.value, context)),
  ];
  const bad = findings.some((finding) => finding.state === 'bad');
  context.out(
    input.json ? line`${printableJson({ type: 'doctor', ok: !bad, findings })}\n` : format(findings, context.color),
  );
  return bad ? 4 : 0;
}

function checkNode(): Finding {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const old = major < 20 || (major === 20 && minor < 19);
  return old
    ? { what: 'node', state: 'bad', found: process.version, remedy: 'Install Node 20.19 or newer.' }
    : fine('node', process.version);
}

async function checkBash({ env }: CliContext): Promise<Finding> {
  const file = await findProgram('bash', env);
  if (file !== undefined) return fine('bash', file);
  const remedy = 'Install bash: commands of tasks and gates run through it.';
  return { what: 'bash', state: 'bad', found: 'not on the PATH', remedy };
}

async function checkProject(project: Project, context: CliContext): Promise<Finding[]> {
  const version = (await project.repository.git.text(['version'])).trim().replace('git version ', '');
  const loaded = await attempt('config', () => project.config());
  const config = 'problem' in loaded ? undefined : loaded.value;
  const placed = config === undefined ? project : await placeWorkers(project, config, context.env);
  const [containers, graphs] = await Promise.all([
    examineContainers(config?.workers, context, project),
    checkGraphs(project),
  ]);
  const { inside } = containers;
  const needed = inside && config?.agent === 'claude' && graphs.some(({ forAgent }) => forAgent > 0);
  return [
    fine('git', version),
    fine('repository', project.repository.root),
    await checkDisk('disk', project.repository.root),
    ...(await checkWorkersFolder(placed)),
    'problem' in loaded
      ? loaded.problem
      : await checkConfig({ project: placed, config: loaded.value, env: context.env }, containers.endpoint, inside),
    await checkApproval(project, context),
    await checkSettings(project, context),
    ...(config === undefined ? [] : [await checkAgent(config, inside, context)]),
    await checkCredentials(context, { inside, missing: needed ? 'bad' : 'note' }),
    ...graphs.map(({ finding }) => finding),
    ...containers.findings,
  ];
}

/** A run that starts no containers does not mind what is wrong with them. */
async function checkConfig(wishes: ConfigWishes, endpoint: string | null, inside: boolean): Promise<Finding> {
  const asked = await attempt('config', () => checkedMounts(wishes, endpoint));
  if ('problem' in asked) return { ...asked.problem, state: inside ? 'bad' : 'note' };
  return fine('config', wishes.project.paths.config);
}

/** Looking does no harm, so nothing is asked here. */
async function checkApproval(project: Project, context: CliContext): Promise<Finding> {
  const what = 'approval';
  const asked = await attempt(what, () => readSettings(project, context));
  if ('problem' in asked) return asked.problem;
  const { changes } = asked.value;
  if (changes.length === 0) return fine(what, 'there are no settings in .mahabharatha that you have not approved');
  const remedy = 'A run at a terminal shows the difference and asks; elsewhere it needs: --trust-config';
  return { what, state: 'note', found: changes.map(inWords).join('\n'), remedy };
}

/** What the user lets repositories have of this machine. */
async function checkSettings({ repository }: Project, { env }: CliContext): Promise<Finding> {
  const what = 'settings';
  const asked = await attempt(what, () => allowedFolders(env, repository.root));
  if ('problem' in asked) return asked.problem;
  const { file, allowed } = asked.value;
  return fine(what, `${file}: repositories may mount ${counted(allowed.length, 'folder')}`);
}

/** Worktrees are there; it may be another disk than the repository's. */
async function checkWorkersFolder({ repository, paths }: Project): Promise<Finding[]> {
  const what = "workers' folder";
  const { top } = paths.placeOf('');
  const asked = await attempt(what, () => checkRunPlace(repository.root, { top }));
  if ('problem' in asked) return [asked.problem];
  return [fine(what, top), await checkDisk('disk of workers', await nearest(top))];
}

async function nearest(folder: string): Promise<string> {
  return access(folder).then(
    () => folder,
    () => nearest(path.dirname(folder)),
  );
}

async function checkDisk(what: string, folder: string): Promise<Finding> {
  const { bavail, bsize } = await statfs(folder);
  const free = `${inBytes(bavail * bsize)} free`;
  if (bavail * bsize >= LOW_DISK_BYTES) return fine(what, free);
  return { what, state: 'bad', found: free, remedy: 'Make room: every worker has a checkout of its own.' };
}

/** What is in an image is not looked at: only that of a container's agent, Claude Code, is known to be there. */
async function checkAgent(config: Config, inside: boolean, { env }: CliContext): Promise<Finding> {
  const asked = await attempt('agent', async () => {
    const spec = agentSpec(config, config.agent);
    if (inside && spec.kind !== 'shell') return { spec, problem: undefined };
    return { spec, problem: await agentProblem(spec, env) };
  });
  if ('problem' in asked) return asked.problem;
  const { spec, problem } = asked.value;
  const name = spec.kind === 'command' ? spec.name : spec.kind;
  if (problem !== undefined) {
    const remedy = `${problem.remedy} Tasks with a "run" command need no agent.`;
    return { what: 'agent', state: 'note', found: `${name}: ${problem.reason}`, remedy };
  }
  if (!inside) return fine('agent', name);
  return fine('agent', spec.kind === 'command' ? `${name}: "${spec.command[0]}" of the image` : `${name} of the image`);
}

interface Need {
  readonly inside: boolean;
  readonly missing: 'bad' | 'note';
}

/** Whether there are any, never what they are. */
async function checkCredentials({ env }: CliContext, { inside, missing }: Need): Promise<Finding> {
  const what = 'credentials';
  const asked = await attempt(what, () => findAgentCredentials({ env, platform: process.platform, run }));
  if ('problem' in asked) return { ...asked.problem, state: missing };
  if (asked.value === undefined) {
    const remedy =
      'For Claude Code: run "claude" once and log in, or set CLAUDE_CODE_OAUTH_TOKEN (from: claude setup-token) or ANTHROPIC_API_KEY.';
    return { what, state: missing, found: 'none found', remedy };
  }
  const { source, expired, expiresAt } = asked.value;
  const found = source in env ? `${source} is set` : source;
  if (!expired) return fine(what, expiresAt === null ? found : `${found}, valid until ${expiresAt}`);
  const state = inside ? missing : 'note';
  const remedy = 'Run "claude" once: it renews the login, which workers in containers cannot.';
  return { what, state, found: `${found}: the login has expired (${expiresAt})`, remedy };
}

interface GraphFinding {
  readonly finding: Finding;
  /** Tasks without a command of their own. */
  readonly forAgent: number;
}

async function checkGraphs(project: Project): Promise<GraphFinding[]> {
  const entries = await readdir(project.paths.specs, { withFileTypes: true }).catch(() => []);
  return Promise.all(
    entries
      .filter((entry) => entry.isDirectory())
      .map(async ({ name }) => {
        const what = `feature ${name}`;
        const loaded = await attempt(what, () => loadGraph(project.paths.feature(name).graph));
        if ('problem' in loaded) return { finding: loaded.problem, forAgent: 0 };
        const { tasks, levels } = loaded.value.graph;
        const finding = fine(what, `${tasks.length} tasks in ${levels.length} levels`);
        return { finding, forAgent: tasks.filter((task) => task.run === null).length };
      }),
  );
}

function format(findings: readonly Finding[], color: boolean): Printable {
  const colors = colorsFor(color);
  const paint = { ok: colors.green('✓'), note: colors.yellow('!'), bad: colors.red('✗') };
  const width = Math.max(...findings.map(({ what }) => what.length));
  const margin = ' '.repeat(width + 4);
  const lines = findings.flatMap(({ what, state, found, remedy }) => [
    line`${paint[state]} ${what.padEnd(width)}  ${printableBlock(found, margin)}`,
    ...(remedy === null ? [] : [line`${margin}${colors.dim(`→ ${remedy}`)}`]),
  ]);
  return printableLines(lines);
}
