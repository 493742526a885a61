import { z } from 'zod';
import { printable } from '../lib/text/printable.ts';
import { dollars, duration, sizeOf, UNIT_BYTES } from './amounts.ts';
import { mcp } from './mcp-schema.ts';
import { serve } from './serve-schema.ts';

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable');

/** What a worker in container mode may use and reach. */
const container = z.strictObject({
  memory: sizeOf(64 * UNIT_BYTES.m)
    .prefault('4g')
    .describe('Memory of one worker with all it runs; there is no swap beyond it.'),
  cpus: z.number().min(0.1).max(1024).default(2),
  pids: z.int().min(64).max(100_000).default(512).describe('Processes and threads at a time.'),
  tmpfs: sizeOf(UNIT_BYTES.m)
    .prefault('1g')
    .describe('Size of /tmp and of the home folder, each; it counts as memory.'),
  disk: sizeOf(UNIT_BYTES.m)
    .prefault('10g')
    .describe('What a worker may keep on the disk: worktree, git directory and outbox together.'),
  snapshots: sizeOf(UNIT_BYTES.m)
    .prefault('10g')
    .describe(
      'How much of the disk the checkouts may take that workers start from, of all your repositories together.',
    ),
  network: z
    .enum(['allowlist', 'none', 'open'])
    .default('allowlist')
    .describe('"allowlist": only the hosts under "allow"; "none": nothing; "open": everything, this machine included.'),
  allow: z
    // The allowlist has a parser of its own; the minimum length is for editors.
    .array(z.string().meta({ minLength: 1 }))
    .default(['agent', 'npm'])
    .describe(
      'Presets (agent: the hosts of the agents that the tasks use; anthropic, github, google, npm, openai, opencode, pypi), names ("example.org", "*.example.org", "example.org:8443"), or an address with its port ("192.168.1.5:8080").',
    ),
  agents: z
    .array(z.enum(['claude', 'codex', 'gemini', 'opencode']))
    .optional()
    .describe(
      'Which agents the worker image has. Default: the one that "agent" names; "claude" where that is a command of your own or "shell".',
    ),
  verification: z
    .enum(['fresh-container', 'same-container'])
    .default('fresh-container')
    .describe(
      'Where a task is verified. "fresh-container": on its commit, where nothing of its agent is left; "same-container": where its agent has worked, with all that it has left.',
    ),
  credentials: z
    .enum(['inject', 'handover'])
    .optional()
    .describe(
      'What Claude Code proves itself with. "inject": the egress proxy adds it to requests for the model, and no worker has it; "handover": the agent gets it. Default: "inject" where that works.',
    ),
  env: z.array(variableName).default([]).describe('Variables of your environment that workers get too.'),
  mounts: z
    .array(
      z.strictObject({
        source: z.string().min(1).describe('A folder of this machine; "~/" and paths from the repository are fine.'),
        target: z.string().regex(/^\//, 'expected an absolute path').describe('Where it is in the container.'),
        read_only: z.boolean().default(true),
      }),
    )
    .default([])
    .describe('Further folders for workers, of those that the user allows in settings of their own.'),
  caches: z
    .array(z.enum(['npm', 'yarn', 'pnpm', 'pip', 'uv', 'cargo', 'go']))
    .default([])
    .describe('Package managers whose downloads all workers of this repository share.'),
  runtime: z.string().min(1).optional().describe('Another OCI runtime of the engine, say "runsc".'),
});

const perMillion = z.number().min(0);

/** What a model costs. */
const price = z.strictObject({
  input: perMillion.describe('US dollars per million tokens.'),
  output: perMillion,
  cache_read: perMillion.optional().describe('Default: as input.'),
  cache_write: perMillion.optional().describe('Default: as input.'),
});

const hook = z.string().min(1).optional();

/** Part of log lines, messages and prompts: no part of it may look like something else there. */
const gateName = z
  .string()
  .min(1)
  .refine((name) => printable(name).toString() === name && name.trim() === name, {
    error: ({ input }) =>
      `${printable(JSON.stringify(input)).toString()} has line ends, invisible characters or blanks at its ends`,
  });

/** How an agent that Mahabharatha knows itself is started. */
const agentProgram = (command: string, title: string) =>
  z
    .strictObject({
      command: z.string().min(1).default(command).describe(`The ${title} program.`),
      model: z.string().min(1).optional().describe('Passed on as --model.'),
      args: z.array(z.string()).default([]).describe('Further arguments for the program.'),
    })
    .prefault({});

/** Keys and values as in the file. Everything has a default, so an empty file is valid. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  agent: z
    .string()
    .min(1)
    .default('claude')
    .describe(
      'What does tasks without a "run" command: "claude", "codex", "gemini", "opencode", or a name under "agents"; "shell": nothing, so every task needs a command.',
    ),
  claude: agentProgram('claude', 'Claude Code'),
  codex: agentProgram('codex', 'Codex'),
  gemini: agentProgram('gemini', 'Gemini CLI'),
  opencode: agentProgram('opencode', 'OpenCode'),
  agents: z
    .record(
      z.string().regex(/^[A-Za-z][A-Za-z0-9_-]*$/, 'a name has letters, digits, dashes and underscores'),
      z.strictObject({
        command: z
          .array(z.string().min(1))
          .min(1)
          .describe('Program and arguments. "{prompt}" or "{prompt_file}" stand for the prompt.'),
        prompt: z.enum(['stdin', 'argument', 'file']).default('stdin').describe('How the prompt gets in.'),
        env: z
          .array(variableName)
          .default([])
          .describe('Variables of your environment that only this agent gets in a container, say its API key.'),
      }),
    )
    .default({})
    .describe('Other agents, by name.'),
  workers: z
    .strictObject({
      count: z.int().min(1).max(64).default(4).describe('Workers at a time.'),
      mode: z.enum(['auto', 'subprocess', 'container']).default('auto'),
      setup: z
        .string()
        .min(1)
        .optional()
        .describe(
          'Shell command that makes a fresh worktree usable, say "npm install". As a subprocess a worker runs it once, and again when a lock file has changed (where there is none, a file that names packages), or when a task has changed something of more than 32 MB that it made.',
        ),
      setup_timeout: duration.prefault('15m'),
      copy: z
        .array(z.string().min(1))
        .default([])
        .describe('Ignored files that tasks need, as globs from the root of the repository, say ".env*".'),
      task_timeout: duration.prefault('30m').describe('Longest time for one attempt of one task.'),
      idle_timeout: duration.prefault('10m').describe('Longest time without a byte of output from the agent.'),
      lease: duration
        .prefault('30s')
        .describe('A worker ends itself when the orchestrator gives no sign of life for so long.'),
      folder: z
        .string()
        .regex(/^(\/|~\/)/, 'expected an absolute path, or one that begins with "~/"')
        .optional()
        .describe(
          'Where to keep what workers write: in it, a folder is made that only you can enter. Default: your state folder.',
        ),
      container: container.optional(),
    })
    .transform((workers) => ({
      ...workers,
      container: workers.container ?? container.parse({}),
      setsContainer: workers.container !== undefined,
      /** Then a run never falls back to subprocesses. */
      asksForContainers: workers.container !== undefined || workers.mode === 'container',
    }))
    .prefault({}),
  retry: z
    .strictObject({
      attempts: z
        .int()
        .min(1)
        .max(20)
        .default(3)
        .describe(
          'How often a task may fail before it is given up. A command ("run") gets two tries at most on the same commit.',
        ),
      backoff: duration.prefault('30s').describe('First wait after a rate limit; it doubles up to ten times this.'),
    })
    .prefault({}),
  limits: z
    .strictObject({
      cost: dollars.optional().describe('US dollars that the agents of a run may cost; then it pauses.'),
      task_cost: dollars
        .optional()
        .describe('US dollars that the attempts of one task may cost together; then it fails.'),
      time: duration.optional().describe('How long a run, or a resume of it, may take; then it pauses.'),
    })
    .prefault({}),
  prices: z
    .record(z.string().min(1), price)
    .default({})
    .describe('Your own prices of models, by name or a part of it, say of a provider that is no vendor.'),
  ownership: z
    .enum(['enforce', 'warn', 'off'])
    .default('enforce')
    .describe('What happens when a task changes a file that it did not declare; below .mahabharatha/ it always fails.'),
  gates: z
    .array(
      z.strictObject({
        name: gateName,
        command: z.string().min(1).describe('Shell command; exit status 0 is green.'),
        required: z.boolean().default(true).describe('A red gate that is not required is only reported.'),
        timeout: duration.prefault('10m'),
      }),
    )
    .max(50)
    .default([])
    .describe('Commands that must pass on the merged tree after each level.'),
  hooks: z
    .strictObject({
      on_complete: hook.describe('Shell command of this machine, after a run that is complete.'),
      on_failure: hook.describe('The same after a run that has failed.'),
      on_pause: hook.describe('The same after a run that is paused: a limit of the account, or a cap on cost or time.'),
      timeout: duration.prefault('1m').describe('Then the command is ended, with all that it has started.'),
    })
    .prefault({})
    .describe(
      'What runs in the repository, with your rights, when a run has ended. It gets the facts in variables (MAHABHARATHA_FEATURE, …_STATUS, …) and changes no exit status. A run that a person stops has none.',
    ),
  serve: serve.prefault({}),
  mcp: mcp.prefault({}),
});

export type Config = z.infer<typeof configSchema>;

/** @public used by scripts/generate.js */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' });
}
