import type { CliContext, Command, CommandInput } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION, TRUST_OPTION } from '../command.ts';

export const kurukshetra: Command = {
  name: 'kurukshetra',
  alias: 'run',
  summary: 'build a feature with parallel workers, level by level',
  options: [
    FEATURE_OPTION,
    { flags: '-w, --workers <n>', summary: 'how many workers at a time (default: workers.count of the config, 4)' },
    {
      flags: '-m, --mode <mode>',
      summary: 'where workers run: container, subprocess (with your own rights), or auto (default: workers.mode)',
    },
    { flags: '--auto-build', summary: 'build the image first if there is none; a stale one is built anew in any case' },
    { flags: '--dry-run', summary: 'show the plan, start nothing' },
    { flags: '--resume', summary: 'go on with a run that was stopped, paused or killed' },
    { flags: '-g, --task-graph <path>', summary: 'another file than .mahabharatha/specs/<feature>/task-graph.json' },
    { flags: '--base <ref>', summary: 'the commit to start from (default: HEAD)' },
    { flags: '--agent <name>', summary: 'who does tasks without a "run" command: claude, shell, or one of the config' },
    TRUST_OPTION,
    { flags: '--timeout <duration>', summary: 'stop the whole run after this time, say 90m' },
    JSON_OPTION,
  ],
  details: [
    `--mode auto takes containers where an engine is on this machine, builds a stale image anew, and refuses when containers
are meant and cannot be had. Only where there has never been an engine, and every task has a "run" command, it takes
subprocesses by itself. The first line that is printed says which mode it is and why.`,
    `Claude Code is started with --dangerously-skip-permissions, in both modes: there is no person at a worker to answer its
questions. In a container the container is what holds it; as a subprocess nothing does, so name that mode only for agents
and repositories that you trust with all that you may do on this machine.`,
  ],
  examples: [
    ['mahabharatha kurukshetra --feature login --dry-run', 'see levels, tasks and files first'],
    ['mahabharatha kurukshetra --feature login --workers 6', 'build it with six workers'],
    ['mahabharatha kurukshetra --mode container --auto-build', 'in locked-down containers, image included'],
    ['mahabharatha kurukshetra --feature login --resume', 'go on after a stop or a crash'],
    ['mahabharatha kurukshetra --json > events.ndjson', 'one event per line, for programs'],
    [
      'mahabharatha kurukshetra --trust-config',
      'in CI: the settings of the repository are approved without a question',
    ],
  ],
  run: async (input: CommandInput, context: CliContext) => {
    const { build } = await import('../run/build-feature.ts');
    return build(input, context);
  },
};
