import { z } from 'zod';

const environment = z
  .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/), z.string().regex(/^[^\0]*$/))
  .describe('Variables for this command alone.');

export const newSession = z.object({
  project_id: z
    .string()
    .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/)
    .describe('Names the folder of the workspace: /workspace/<project_id>.'),
  runtime_type: z.string().max(64).describe('"node", "python", "shell", or one of the configuration.'),
});

export const session = z.object({ session_id: z.string(), workspace_path: z.string() });

export const sessionFacts = session.extend({
  project_id: z.string(),
  runtime_type: z.string(),
  cwd: z.string(),
  busy: z.boolean(),
  created_at: z.string(),
  last_used_at: z.string(),
});

export const sessionList = z.object({ sessions: z.array(sessionFacts) });

export const exec = z.object({
  command: z
    .string()
    .max(64 * 1024)
    .regex(/^[^\0]*$/)
    .optional()
    .describe("A line for bash. When it is left out, the runtime's set-up and default command run."),
  timeout_s: z.number().positive().max(3600).optional().describe('Default: 600.'),
  reset_cwd: z.boolean().optional().describe('Begin in the folder of the workspace again.'),
  env: environment.optional(),
});

export const execEnd = z.object({
  exit_code: z
    .number()
    .int()
    .describe('128 and the number of the signal when one has ended it; 124 after the time-out.'),
  cwd: z.string(),
  duration_ms: z.number(),
  timed_out: z.boolean(),
  killed: z.boolean(),
  cpu_ms: z.number(),
  memory_peak_mb: z.number(),
  out_of_memory: z.boolean(),
  workspace_lost: z.boolean().describe('The container had ended, so that the command ran in a new, empty workspace.'),
});

export const execResult = execEnd.extend({
  ok: z.boolean(),
  stdout: z.string(),
  stderr: z.string(),
  stdout_truncated: z.boolean(),
  stderr_truncated: z.boolean(),
});

const uploadFile = z.object({
  path: z.string().min(1).max(4096),
  content: z.string(),
  encoding: z.enum(['utf8', 'base64']).optional(),
  executable: z.boolean().optional(),
});

export const upload = z.object({
  files: z.array(uploadFile).max(10_000),
  delete: z.array(z.string().min(1).max(4096)).max(10_000).optional().describe('Paths to be removed.'),
});

export const uploaded = z.object({ synced: z.number().int(), deleted: z.number().int() });

export const fileQuery = z.object({
  path: z.string().min(1).max(4096),
  encoding: z.enum(['utf8', 'base64']).optional(),
});

export const fileContent = z.object({
  content: z.string(),
  size: z.number().int(),
  encoding: z.enum(['utf8', 'base64']),
});

export const killed = z.object({ killed: z.boolean() });
export const destroyed = z.object({ destroyed: z.literal(true) });

/** Every answer that is no success. */
export const refusal = z.object({
  detail: z.string().describe('What is wrong, in a sentence.'),
  code: z.string(),
  hint: z.string().optional(),
});

export const program = z.object({ code: z.string() });

export const ran = z.object({
  stdout: z.string(),
  stderr: z.string(),
  exit_code: z.number().int(),
  execution_time_ms: z.number(),
  container_id: z.string(),
  language: z.string(),
  image_name: z.string(),
  memory_used_mb: z.number(),
  cpu_percent: z.number(),
  file_path: z.string(),
});

export const health = z.object({
  status: z.enum(['ok', 'degraded']),
  containers: z.record(z.string(), z.enum(['running', 'stopped'])),
  sessions: z.number().int(),
  uptime_seconds: z.number(),
});
