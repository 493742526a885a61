import { AGENT_FACTS } from '../agents/index.ts';
import { isKnownAgent } from '../protocol/index.ts';
import type { KnownAgent } from '../protocol/index.ts';
import type { ModeLine } from './decide-mode.ts';
import type { UsedAgent } from './run-agents.ts';

/** Pure. What a run without containers does not protect from. */
export function unprotectedLines({ name }: Pick<ModeLine, 'name'>, used: readonly UsedAgent[]): string[] {
  if (name === 'container') return [];
  return [
    'Not protected: commands of tasks run with your own rights. They can read your keys and logins, change every file of yours, and use your network; ownership and gates judge only their commits.',
    ...used.flatMap(({ spec }) => (isKnownAgent(spec) ? [unattendedLine(spec.kind)] : [])),
  ];
}

function unattendedLine(kind: KnownAgent): string {
  const { title, unattended } = AGENT_FACTS[kind];
  return `${title} is started with ${unattended}: it does everything without asking.`;
}
