import type { AgentSpec } from '../protocol/index.ts';
import type { TaskGraph } from '../tasks/index.ts';
import type { ModeLine } from './choose-mode.ts';

/** Pure. What a run without containers does not protect from; nothing for one with them. */
export function unprotectedLines({ name }: ModeLine, agent: AgentSpec, { tasks }: TaskGraph): string[] {
  if (name === 'container') return [];
  return [
    'Not protected: what tasks run has your own rights. It can read your keys and logins, change every file of yours, and use your network; ownership and gates only judge what it hands in.',
    ...(agent.kind === 'claude' && tasks.some((task) => task.run === null)
      ? ['Claude Code is started with --dangerously-skip-permissions: it asks before nothing that it does.']
      : []),
  ];
}
