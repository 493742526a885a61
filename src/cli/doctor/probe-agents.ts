import { configOf, probeAgent, readSettings } from '../../project/index.ts';
import type { Project, UsedAgent } from '../../project/index.ts';
import { agentName } from '../../protocol/index.ts';
import type { CliContext } from '../command.ts';
import { planFace } from '../planning/plan-face.ts';
import { checked, fine } from './finding.ts';
import type { Finding } from './finding.ts';

/** One real request of each agent, one after the other: they share the name of their run. */
export async function probeAgents(
  project: Project,
  agents: readonly UsedAgent[],
  context: CliContext,
): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const { spec } of agents) {
    const name = agentName(spec);
    if (spec.kind !== 'shell') findings.push(await checked(`probe of ${name}`, () => probe(project, name, context)));
  }
  return findings;
}

async function probe(project: Project, name: string, context: CliContext): Promise<Finding> {
  const what = `probe of ${name}`;
  const settings = await readSettings(project, context);
  if (settings.changes.length > 0) {
    const remedy = 'A run at a terminal shows them and asks; elsewhere it needs: --trust-config';
    return { what, state: 'note', found: 'not tried: there are settings that you have not approved', remedy };
  }
  const asked = { project, config: configOf(project, settings), agent: name };
  const { works, said } = await probeAgent(asked, context, planFace(context));
  if (works) return fine(what, said);
  return {
    what,
    state: 'bad',
    found: said,
    remedy: 'See what it did with: mahabharatha logs --feature doctor.planning',
  };
}
