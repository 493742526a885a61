import { z } from 'zod';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const;
type Unit = keyof typeof UNIT_MS;
const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h)?$/;

/** "90", 90 (seconds), "90s", "1.5m", "2h", "500ms" in ms; undefined when it is none of these, or not above zero. */
export function parseDuration(value: string | number): number | undefined {
  const match = DURATION.exec(String(value).trim());
  if (match === null) return undefined;
  const ms = Math.round(Number(match[1]) * UNIT_MS[(match[2] ?? 's') as Unit]);
  return ms > 0 && Number.isSafeInteger(ms) ? ms : undefined;
}

const NOT_A_DURATION = 'not a duration: use seconds (90) or "90s", "15m", "2h"';

const duration = z
  .union([z.number(), z.string()], NOT_A_DURATION)
  .refine((value) => parseDuration(value) !== undefined, NOT_A_DURATION)
  .transform((value) => parseDuration(value) ?? 0)
  .describe('Seconds, or a text such as "90s", "15m", "2h".');

const UNIT_BYTES = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 } as const;
const SIZE = /^(\d+(?:\.\d+)?)\s*([kmg])i?b?$/i;

/** "512m", "4g", "1.5 GiB" in bytes; undefined when it is none of these, or not above zero. */
export function parseSize(value: string): number | undefined {
  const match = SIZE.exec(value.trim());
  if (match === null) return undefined;
  const bytes = Math.round(Number(match[1]) * UNIT_BYTES[(match[2] ?? 'k').toLowerCase() as keyof typeof UNIT_BYTES]);
  return bytes > 0 && Number.isSafeInteger(bytes) ? bytes : undefined;
}

const NOT_A_SIZE = 'not a size: use "512m" or "4g"';

const sizeOf = (least: number): z.ZodType<number, string> =>
  z
    .string(NOT_A_SIZE)
    .refine((value) => parseSize(value) !== undefined, NOT_A_SIZE)
    .transform((value) => parseSize(value) ?? 0)
    .refine((bytes) => bytes >= least, `too little: at least ${least / UNIT_BYTES.m}m`)
    .describe('A text such as "512m" or "4g".');

const variableName = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'not the name of a variable');

/** The walls of a worker in container mode. */
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
  network: z
    .enum(['allowlist', 'none', 'open'])
    .default('allowlist')
    .describe('"allowlist": only the hosts under "allow"; "none": nothing; "open": everything, this machine included.'),
  allow: z
    // The allowlist's own parser says which texts are entries, of all at once; editors learn here that an empty one is none.
    .array(z.string().meta({ minLength: 1 }))
    .default(['anthropic', 'npm'])
    .describe(
      'Presets (anthropic, npm, pypi, github), names ("example.org", "*.example.org", "example.org:8443"), or an address with its port ("192.168.1.5:8080").',
    ),
  env: z.array(variableName).default([]).describe('Variables of your environment that workers get too.'),
  mounts: z
    .array(
      z.strictObject({
        source: z.string().min(1).describe('A folder of this machine; "~/" and paths from the repository are fine.'),
        target: z.string().regex(/^\//, 'an absolute path').describe('Where it is in the container.'),
        read_only: z.boolean().default(true),
      }),
    )
    .default([])
    .describe('Further folders that workers may see, of those that the user allows in their own settings.'),
  caches: z
    .array(z.enum(['npm', 'yarn', 'pnpm', 'pip', 'uv', 'cargo', 'go']))
    .default([])
    .describe('Package managers whose downloads all workers of this repository share.'),
  runtime: z.string().min(1).optional().describe('Another OCI runtime of the engine, say "runsc".'),
});

/** Key and value as they stand in the file; everything has a default, so that an empty file is a whole one. */
export const configSchema = z.strictObject({
  $schema: z.string().optional(),
  agent: z
    .string()
    .min(1)
    .default('claude')
    .describe('Who does tasks that have no "run" command: "claude", or a name under "agents".'),
  claude: z
    .strictObject({
      command: z.string().min(1).default('claude').describe('The Claude Code program.'),
      model: z.string().min(1).optional().describe('Passed on as --model.'),
      args: z.array(z.string()).default([]).describe('Further arguments for the program.'),
    })
    .prefault({}),
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
          .describe('Variables of your environment that this agent alone gets in a container, say its API key.'),
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
        .describe('Shell command that makes a fresh worktree usable, say "npm install".'),
      setup_timeout: duration.prefault('15m'),
      copy: z
        .array(z.string().min(1))
        .default([])
        .describe('Ignored files that tasks need, as globs from the root of the repository, say ".env*".'),
      task_timeout: duration.prefault('30m').describe('Longest time for one attempt of one task.'),
      idle_timeout: duration.prefault('10m').describe('Longest time without a byte of output from the agent.'),
      lease: duration
        .prefault('30s')
        .describe('A worker that hears nothing from the orchestrator for so long ends itself.'),
      folder: z
        .string()
        .regex(/^(\/|~\/)/, 'an absolute path, or one that begins with "~/"')
        .optional()
        .describe(
          'Where what workers write is kept, in a folder of its own that only you can enter; else in your state folder.',
        ),
      container: container.optional(),
    })
    .transform((workers) => ({
      ...workers,
      container: workers.container ?? container.parse({}),
      /** The repository asks for containers: without them a run does not fall back to subprocesses. */
      asksForContainers: workers.container !== undefined || workers.mode === 'container',
    }))
    .prefault({}),
  retry: z
    .strictObject({
      attempts: z.int().min(1).max(20).default(3).describe('How often a task may fail before it is given up.'),
      backoff: duration.prefault('30s').describe('First wait after a rate limit; it doubles up to ten times this.'),
    })
    .prefault({}),
  ownership: z
    .enum(['enforce', 'warn', 'off'])
    .default('enforce')
    .describe('What happens when a task changes a file that it did not declare; below .mahabharatha/ it always fails.'),
  gates: z
    .array(
      z.strictObject({
        name: z.string().min(1),
        command: z.string().min(1).describe('Shell command; exit status 0 is green.'),
        required: z.boolean().default(true).describe('A red gate that is not required is only reported.'),
        timeout: duration.prefault('10m'),
      }),
    )
    .max(50)
    .default([])
    .describe('Commands that must pass on the merged tree after each level.'),
});

export type Config = z.infer<typeof configSchema>;

/** @public used by scripts/generate.js */
export function configJsonSchema(): unknown {
  return z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' });
}
