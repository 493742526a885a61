import type { CliContext, Command, CommandInput } from '../command.ts';
import { FEATURE_OPTION, JSON_OPTION, TRUST_OPTION } from '../command.ts';

export const kurukshetra: Command = {
  name: 'kurukshetra',
  alias: 'run',
  summary: 'build a feature with parallel workers, level by level',
  options: [
    FEATURE_OPTION,
    { flags: '-w, --workers <n>', summary: 'how many workers at a time (default: workers.count of the config, 4)' },
    { flags: '-m, --mode <mode>', summary: 'where workers run: auto, subprocess or container' },
    { flags: '--auto-build', summary: 'build the image first if it is missing or stale (container mode)' },
    { flags: '--dry-run', summary: 'show the plan, start nothing' },
    { flags: '--resume', summary: 'go on with a run that was stopped, paused or killed' },
    { flags: '-g, --task-graph <path>', summary: 'another file than .mahabharatha/specs/<feature>/task-graph.json' },
    { flags: '--base <ref>', summary: 'the commit to start from (default: HEAD)' },
    { flags: '--agent <name>', summary: 'who does tasks without a "run" command: claude, shell, or one of the config' },
    TRUST_OPTION,
    { flags: '--timeout <duration>', summary: 'stop the whole run after this time, say 90m' },
    JSON_OPTION,
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
    const { build } = await import('../build-feature.ts');
    return build(input, context);
  },
};
