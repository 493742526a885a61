import type { Config } from '../../config/index.ts';
import type { Engine } from '../../engines/index.ts';
import { agentSpec, checkedMounts, examineAgent, imagePlace, imageRequest, usedAgents } from '../../project/index.ts';
import type { AgentPlace, ConfigWishes, ExaminedAgent, UsedAgent } from '../../project/index.ts';
import { agentName, isKnownName } from '../../protocol/index.ts';
import type { AgentSpec } from '../../protocol/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { CliContext } from '../command.ts';
import { attempt, checked, fine } from './finding.ts';
import type { Finding } from './finding.ts';

/** The agent of the configuration, and those that tasks of a feature name; each once. */
export interface AskedAgents {
  readonly agents: readonly UsedAgent[];
  /** Of graphs that ask for an agent that there is not. */
  readonly problems: readonly Finding[];
}

export async function askedAgents(config: Config, graphs: readonly TaskGraph[]): Promise<AskedAgents> {
  const main = await attempt('agent', async () => agentSpec(config, config.agent));
  if ('problem' in main) return { agents: [], problems: [main.problem] };
  const agents = new Map<string, UsedAgent>([[config.agent, { spec: main.value, tasks: [], models: [] }]]);
  const problems: Finding[] = [];
  for (const graph of graphs) {
    const used = await attempt(`feature ${graph.feature}`, async () => usedAgents(config, config.agent, graph));
    if ('problem' in used) problems.push(used.problem);
    else
      for (const agent of used.value)
        agents.set(agentName(agent.spec), merged(agents.get(agentName(agent.spec)), agent));
  }
  return { agents: [...agents.values()], problems };
}

const merged = (before: UsedAgent | undefined, { spec, tasks, models }: UsedAgent): UsedAgent => ({
  spec: before?.spec ?? spec,
  tasks: [...(before?.tasks ?? []), ...tasks],
  models: [...new Set([...(before?.models ?? []), ...models])],
});

interface Inside extends ConfigWishes {
  readonly engine: Engine | null;
  /** Where it listens. */
  readonly endpoint: string | null;
}

/** The image in which agents of containers are looked for; null when a run would have to build it. What else hinders has a finding of its own. */
export async function imageOfAgents(
  { engine, endpoint, ...wishes }: Inside,
  context: CliContext,
): Promise<AgentPlace | null> {
  if (engine === null) return null;
  const { findRunImage } = await import('../../images/index.ts');
  const found = await attempt('image', async () => {
    const { state } = await findRunImage(engine, await imageRequest(context));
    return { state, mounts: await checkedMounts(wishes, endpoint) };
  });
  if ('problem' in found || found.value.state.state !== 'fresh') return null;
  const { mounts, state } = found.value;
  const runtime = wishes.config.workers.container.runtime ?? null;
  return imagePlace({ engine, image: state.tag, runtime, root: wishes.project.repository.root, mounts });
}

/** The same place, where no program is started that only the configuration names: the user has not approved it. */
export const withoutNamed = (place: AgentPlace): AgentPlace => ({
  ...place,
  look: (program, wanted) => place.look(program, isKnownName(program) ? wanted : 'presence'),
});

/** `place` is null where workers are containers and their image is not built. */
export async function checkAgents(
  agents: readonly UsedAgent[],
  place: AgentPlace | null,
  { env }: CliContext,
): Promise<Finding[]> {
  return Promise.all(
    agents.map(({ spec }, index) => {
      const what = index === 0 ? 'agent' : `agent ${agentName(spec)}`;
      return checked(what, async () =>
        place === null ? notLooked(what, spec) : findingOf(what, spec, await examineAgent(spec, place, env), place),
      );
    }),
  );
}

const notLooked = (what: string, spec: AgentSpec): Finding => ({
  what,
  state: 'note',
  found: `${agentName(spec)}: not looked for, because there is no fresh image of the workers`,
  remedy: 'Build it with: mahabharatha build',
});

function findingOf(what: string, spec: AgentSpec, { version, problem }: ExaminedAgent, place: AgentPlace): Finding {
  const name = agentName(spec);
  if (problem !== null) {
    const remedy = `${problem.remedy} Tasks with a "run" command need no agent.`;
    return { what, state: 'note', found: `${name}: ${problem.reason}`, remedy };
  }
  const which = version === null ? name : `${name} ${version}`;
  if (place.kind === 'machine') return fine(what, which);
  return fine(what, spec.kind === 'command' ? `${name}: "${spec.command[0]}" of the image` : `${which} of the image`);
}
