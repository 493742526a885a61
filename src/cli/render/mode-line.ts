import { line, printableJson, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import type { AgentSpec } from '../../protocol/index.ts';
import type { TaskGraph } from '../../tasks/index.ts';
import type { ModeLine } from '../../project/index.ts';
import type { CliContext } from '../command.ts';

/** Tells the mode of a run, once: a second call says nothing. */
export type ModeTeller = (mode: ModeLine, unprotected: readonly string[]) => void;

export function modeTeller({ out }: Pick<CliContext, 'out'>, json: boolean): ModeTeller {
  let told = false;
  return (mode, unprotected) => {
    if (told) return;
    told = true;
    out(json ? line`${printableJson(modeEvent(mode, unprotected))}\n` : modeText(mode, unprotected));
  };
}

function modeEvent({ name, wished, because }: ModeLine, unprotected: readonly string[]): object {
  return { at: new Date().toISOString(), type: 'mode', mode: name, wished, because, unprotected };
}

/** Pure. */
export function modeText({ name, wished, because }: ModeLine, unprotected: readonly string[]): Printable {
  const first = line`mode ${wished === 'auto' ? 'auto: ' : ''}${name}, because ${because}`;
  return printableLines([first, ...unprotected.map((text) => line`  ${text}`)]);
}

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
