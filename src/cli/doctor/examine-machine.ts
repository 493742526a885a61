import type { Config } from '../../config/index.ts';
import {
  counted,
  findProgram,
  isThere,
  libErrors,
  line,
  printableBlock,
  printableJson,
  printableLines,
} from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import {
  allowedFolders,
  checkedMounts,
  graphPlace,
  loadGraph,
  inSpecs,
  inWords,
  machinePlace,
  openProject,
  placeWorkers,
  readSettings,
} from '../../project/index.ts';
import type { ConfigWishes, Project, Settings } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { doctor } from '../commands/doctor.ts';
import { askedAgents, checkAgents, imageOfAgents, withoutNamed } from './examine-agents.ts';
import { examineContainers } from './examine-containers.ts';
import type { Asked, ContainerFindings } from './examine-containers.ts';
import { checkCredentials } from './examine-credentials.ts';
import { checkDisk, checkWorkersFolder } from './examine-disks.ts';
import { attempt, checked, fine } from './finding.ts';
import { probeAgents } from './probe-agents.ts';
import type { Finding } from './finding.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import { colorsFor } from '../render/colors.ts';

/** `doctor`: every check answers, also when another has failed. */
export async function examine(input: InputOf<typeof doctor>, context: CliContext): Promise<number> {
  const mode = modeOf(input.mode);
  const opened = await attempt('git and repository', async () => openProject(context));
  const findings = [
    checkNode(),
    await checkBash(context),
    ...('problem' in opened
      ? await withoutProject(opened.problem, mode, context)
      : await checkProject(opened.value, { mode, probe: input.probe }, context)),
  ];
  const bad = findings.some((finding) => finding.state === 'bad');
  const facts = { type: 'doctor', ok: !bad, findings };
  context.out(input.json ? line`${printableJson(facts)}\n` : format(findings, context.color));
  return bad ? 4 : 0;
}

type Mode = Config['workers']['mode'];

function modeOf(text: string | undefined): Mode | undefined {
  if (text === undefined || text === 'auto' || text === 'container' || text === 'subprocess') return text;
  throw libErrors.USAGE({ problem: `--mode ${text} is not known.`, hint: 'Use auto, subprocess or container.' });
}

/** An engine is of no interest to those who ask about subprocesses alone. */
async function examineEngine(
  wished: Mode | undefined,
  asked: Omit<Asked, 'mode'>,
  context: CliContext,
): Promise<ContainerFindings> {
  if (wished === 'subprocess') return { findings: [], inside: false, endpoint: null, engine: null };
  return examineContainers({ ...asked, mode: wished ?? asked.workers?.mode }, context);
}

/** The image depends on the repository, and meets the same problem. */
async function withoutProject(problem: Finding, mode: Mode | undefined, context: CliContext): Promise<Finding[]> {
  const { findings } = await examineEngine(mode, {}, context);
  return [problem, ...findings.filter(({ found }) => found !== problem.found)];
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

async function checkProject(
  project: Project,
  { mode: wished, probe }: { readonly mode: Mode | undefined; readonly probe: boolean },
  context: CliContext,
): Promise<Finding[]> {
  const { root, git } = project.repository;
  const version = (await git.text(['version'])).trim().replace('git version ', '');
  const loaded = await attempt('config', () => project.config());
  const config = 'problem' in loaded ? undefined : loaded.value;
  const placed = config === undefined ? project : await placeWorkers(project, config, context.env);
  const [containers, graphs] = await Promise.all([
    examineEngine(wished, { workers: config?.workers, project: placed }, context),
    checkGraphs(project, config?.ownership ?? 'enforce'),
  ]);
  const { inside } = containers;
  const known = graphs.flatMap(({ graph }) => (graph === undefined ? [] : [graph]));
  const asked = config === undefined ? { agents: [], problems: [] } : await askedAgents(config, known);
  const place =
    inside && config !== undefined
      ? await imageOfAgents({ ...containers, project: placed, config, env: context.env }, context)
      : machinePlace(context.env, root);
  const settings = await attempt('approval', () => readSettings(project, context, wished));
  return [
    fine('git', version),
    fine('repository', root),
    await checkDisk('disk', project.paths.state),
    ...(await checkWorkersFolder(placed)),
    'problem' in loaded
      ? loaded.problem
      : await checkConfig({ project: placed, config: loaded.value, env: context.env }, containers.endpoint, inside),
    approvalFinding(settings),
    await checkSettings(project, context),
    ...(await checkAgents(asked.agents, isApproved(settings) ? place : place && withoutNamed(place), context)),
    ...(await checkCredentials(context, { inside, config, agents: asked.agents })),
    ...asked.problems,
    ...graphs.map(({ finding }) => finding),
    ...containers.findings,
    ...(probe ? await probeAgents(project, asked.agents, context) : []),
  ];
}

/** A run without containers ignores what is wrong with their settings. */
function checkConfig(wishes: ConfigWishes, endpoint: string | null, inside: boolean): Promise<Finding> {
  const check = async (): Promise<Finding> => {
    await checkedMounts(wishes, endpoint);
    const file = wishes.project.paths.config;
    return fine('config', (await isThere(file)) ? file : `there is no ${file}: every setting has its default`);
  };
  return checked('config', check, inside ? 'bad' : 'note');
}

type ReadSettings = Awaited<ReturnType<typeof attempt<Settings>>>;

const isApproved = (settings: ReadSettings): boolean =>
  'value' in settings && settings.value.changes.every(({ file }) => file !== 'config.yaml');

/** Only looked at: the question is asked when a run starts. */
function approvalFinding(settings: ReadSettings): Finding {
  if ('problem' in settings) return settings.problem;
  const { changes } = settings.value;
  const what = 'approval';
  if (changes.length === 0) return fine(what, 'there are no settings in .mahabharatha that you have not approved');
  const remedy = 'A run at a terminal shows the difference and asks; elsewhere it needs: --trust-config';
  return { what, state: 'note', found: changes.map(inWords).join('\n'), remedy };
}

/** Which folders the user lets repositories mount. */
function checkSettings({ repository }: Project, { env }: CliContext): Promise<Finding> {
  return checked('settings', async () => {
    const { file, allowed } = await allowedFolders(env, repository.root);
    return fine('settings', `${file}: repositories may mount ${counted(allowed.length, 'folder')}`);
  });
}

interface GraphFinding {
  readonly finding: Finding;
  /** Undefined when it cannot be read. */
  readonly graph: TaskGraph | undefined;
}

async function checkGraphs(project: Project, ownership: Config['ownership']): Promise<GraphFinding[]> {
  const { folders, links } = await inSpecs(project.paths);
  return Promise.all([...folders, ...links].map((name) => checkGraph(project, name, ownership)));
}

async function checkGraph(project: Project, name: string, ownership: Config['ownership']): Promise<GraphFinding> {
  const what = `feature ${name}`;
  const loaded = await attempt(what, async () => {
    const place = await graphPlace(project, name);
    return (await isThere(place)) ? (await loadGraph(place, ownership)).graph : undefined;
  });
  if ('problem' in loaded) return { finding: loaded.problem, graph: undefined };
  const { value: graph } = loaded;
  if (graph === undefined) {
    const remedy = `Once it is planned and approved: mahabharatha design ${name}`;
    return { finding: { what, state: 'note', found: 'it has no task graph yet', remedy }, graph };
  }
  const size = `${counted(graph.tasks.length, 'task')} in ${counted(graph.levels.length, 'level')}`;
  return { finding: fine(what, size), graph };
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
