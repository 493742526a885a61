import type { CommandDefinition } from '../command.ts';
import { FEATURE_ARGUMENT, JSON_OPTION, TRUST_OPTION } from '../command.ts';

export const kurukshetra = {
  name: 'kurukshetra',
  alias: 'run',
  argument: FEATURE_ARGUMENT,
  summary: 'build a feature with parallel workers, level by level',
  options: {
    feature: ['-f, --feature <name>', 'the feature (default: the one that is in work, else the newest without a run)'],
    workers: ['-w, --workers <n>', 'how many workers at a time (default: workers.count of the config, 4)'],
    mode: [
      '-m, --mode <mode>',
      'where workers run: container, subprocess (with your own rights), or auto (default: workers.mode)',
    ],
    autoBuild: ['--auto-build', 'build the image first if there is none; a stale one is built anew in any case'],
    dryRun: ['--dry-run', 'show the plan, start nothing; it needs no engine and no image'],
    format: ['--format <form>', 'of --dry-run: text (default), mermaid (a diagram of the graph), or json'],
    resume: ['--resume', 'go on with a run that was stopped, paused or killed'],
    again: ['--again', 'also build a feature that was merged already'],
    graphFile: ['-g, --task-graph <path>', 'another file than .mahabharatha/specs/<feature>/task-graph.json'],
    base: ['--base <ref>', 'the commit to start from (default: HEAD)'],
    agent: [
      '--agent <name>',
      'who does tasks without a "run" command: claude, codex, gemini, opencode, shell, or one of the config',
    ],
    trustConfig: TRUST_OPTION,
    maxCost: ['--max-cost <usd>', 'pause the run when its agents have cost so much; a resumed run keeps it'],
    maxTaskCost: ['--max-task-cost <usd>', 'give a task up when its attempts together have cost so much'],
    maxTime: ['--max-time <duration>', 'pause the run when this call of it has taken so long, say 90m'],
    wait: ['--wait', 'stay at a usage limit of the account, and go on at its end'],
    json: JSON_OPTION,
  },
  details: [
    `--mode auto takes containers where an engine is on this machine, builds a stale image anew, and refuses when containers
are meant but not available. It takes subprocesses only where nothing says that containers are meant, there is no sign of
an engine, and every task has a "run" command. The first line that is printed says which mode it is and why.`,
    `Agents are started so that they ask nothing (Claude Code with --dangerously-skip-permissions, docs/agents.md), in both modes,
because no person at a worker could answer. In a container it can do only what the container allows; as a subprocess it can do all that you can, so name
that mode only for agents and repositories that you trust with that.`,
    `Caps on the cost stop agents within seconds, by what they use as they work; verification, merges and gates cost nothing
and go on. Then the run is paused (exit 3), and --resume --max-cost <more> goes on. See docs/money.md.`,
  ],
  examples: [
    ['mahabharatha kurukshetra --feature login --dry-run', 'see levels, tasks and files first'],
    ['mahabharatha kurukshetra --feature login --workers 6', 'build it with six workers'],
    ['mahabharatha kurukshetra --mode container --auto-build', 'in locked-down containers, image included'],
    ['mahabharatha kurukshetra --feature login --resume', 'go on after a stop or a crash'],
    ['mahabharatha run --max-cost 20 --max-task-cost 3 --max-time 8h --wait', 'over night, within limits'],
    ['mahabharatha kurukshetra --json > events.ndjson', 'one event per line, for programs'],
    [
      'mahabharatha kurukshetra --trust-config',
      'in CI: the settings of the repository are approved without a question',
    ],
  ],
} as const satisfies CommandDefinition;
