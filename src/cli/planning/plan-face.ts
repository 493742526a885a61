import { counted, line, printableBlock, printableLines } from '../../lib/index.ts';
import type { OnProblems, RunFace } from '../../project/index.ts';
import type { CliContext } from '../command.ts';
import { plainView } from '../render/build-view.ts';
import { describe } from '../render/describe.ts';
import { credentialsText, modeTeller } from '../render/mode-line.ts';

/** What a person wants to hear of an agent that plans; the rest is about runs. */
const TOLD: ReadonlySet<string> = new Set([
  'attempt-started',
  'attempt-failed',
  'worker-trouble',
  'worker-recovered',
  'warning',
]);

/** Runs whose only task is a question to an agent, one for each round of questions: what is to be known of it goes to stderr. */
export function planFace(context: CliContext): RunFace {
  let rounds = 0;
  const onErr = { ...context, out: context.err };
  return {
    mode: modeTeller(onErr, false),
    credentials: (way) => context.err(credentialsText(way, false)),
    build: plainView({ ...onErr, terminal: false }),
    waiting: () => undefined,
    hook: () => undefined,
    open: async () => {
      rounds += 1;
      const round = rounds;
      return {
        event: (event) => {
          if (TOLD.has(event.type)) context.err(line`round ${round}: ${describe(event).text}\n`);
        },
        note: () => undefined,
        close: async (end) => {
          const refused = end?.network?.refused.total ?? 0;
          if (refused > 0)
            context.err(line`The agent was refused ${refused} requests to hosts that are not allowed.\n`);
        },
      };
    },
  };
}

/** At most this many are told; the agent gets all. */
const MOST_PROBLEMS = 10;

/** Says why an agent that plans is asked once more. */
export function tellProblems({ err }: CliContext): OnProblems {
  return (round, problems) => {
    const told = problems.slice(0, MOST_PROBLEMS).map((problem) => printableBlock(`  - ${problem}`, '    '));
    const more = problems.length - told.length;
    const rest = more === 0 ? [] : [line`  … and ${more} more`];
    const count = counted(problems.length, 'problem');
    err(
      line`round ${round}: the answer has ${count}; the agent is asked again:\n${printableLines([...told, ...rest])}`,
    );
  };
}
