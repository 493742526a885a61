import { z } from 'zod';
import { duration, sizeOf, UNIT_BYTES } from './amounts.ts';

const DAY_MS = 24 * 60 * 60_000;

const callTime = duration.refine((ms) => ms <= DAY_MS, 'too long: at most 24h');

/** What `mahabharatha mcp` gives the code of AI clients. */
export const mcp = z.strictObject({
  base_image: z
    .string()
    .min(1)
    .optional()
    .describe('What the image with Bun is built on. Default: the base of the last build.'),
  cpus: z.number().min(0.1).max(1024).default(2).describe('Of one session.'),
  memory: sizeOf(64 * UNIT_BYTES.m)
    .prefault('512m')
    .describe('Of one session, with the files of its /packages, its home folder and its /tmp.'),
  disk: sizeOf(UNIT_BYTES.m).prefault('256m').describe('Size of /packages, of the home folder and of /tmp, each.'),
  processes: z.int().min(8).max(10_000).default(64).describe('Processes and threads of one session.'),
  timeout: callTime.prefault('30s').describe('Of a call that names none.'),
  longest_timeout: callTime.prefault('10m').describe('The most that a call may ask for.'),
  output: sizeOf(UNIT_BYTES.k)
    .refine((bytes) => bytes <= 64 * UNIT_BYTES.m, 'too much: at most 64m')
    .prefault('1m')
    .describe('How much of stdout is kept, and how much of stderr.'),
  sessions: z.int().min(1).max(1000).default(8).describe('Sessions of one user that may be open at a time.'),
  packages: z
    .strictObject({
      folder: z
        .string()
        .regex(/^~?\//, 'expected a path from "/" or "~/"')
        .default('~/.bun-runner-mcp/packages')
        .describe('Where packages of npm are kept, for all servers of one user.'),
      disk: sizeOf(UNIT_BYTES.m).prefault('5g').describe('The most that they may take there.'),
      allow_scripts: z
        .array(z.string().regex(/^(?:@[\w.~-]+\/)?[\w.~-]+$/, 'expected a name such as "sharp" or "@scope/name"'))
        .default([])
        .describe('Packages whose install scripts may run. They run in the container that installs.'),
    })
    .prefault({}),
  idle: duration.prefault('30m').describe('A session that is idle for so long is ended, with its container.'),
});

export type McpSettings = z.infer<typeof mcp>;
