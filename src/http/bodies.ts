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
  network: z
    .union([z.boolean(), z.array(z.string().min(1).max(255)).min(1).max(32)])
    .optional()
    .describe('true: what the server allows; a list: some hosts of that. Default: no network.'),
  cache: z
    .boolean()
    .optional()
    .describe(
      'node_modules and .venv are kept for the next session of this project, runtime and user. Default: false.',
    ),
});

export const session = z.object({ session_id: z.string(), workspace_path: z.string() });

export const sessionFacts = session.extend({
  project_id: z.string(),
  runtime_type: z.string(),
  cwd: z.string(),
  busy: z.boolean(),
  network: z.boolean(),
  cache: z.boolean(),
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
  env_file: z
    .string()
    .min(1)
    .max(4096)
    .optional()
    .describe('A file of the workspace, say ".env", with more variables. Those of "env" go before them.'),
});

export const execEnd = z.object({
  exit_code: z
    .number()
    .int()
    .describe(
      '128 and the number of the signal when one has ended it; 124 after the time-out. Never 0 when it was ended.',
    ),
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

/** Over a socket: a command, or the end of the one that runs. */
export const socketRequest = z.union([
  z.object({ type: z.literal('kill') }),
  exec.extend({ type: z.literal('exec').optional() }),
]);

/** Over a socket, from the server. */
export const socketMessage = z.union([
  z.object({ type: z.enum(['stdout', 'stderr']), data: z.string() }),
  execEnd.extend({ type: z.literal('exit') }),
  z.object({ type: z.literal('error'), detail: z.string(), code: z.string(), hint: z.string().optional() }),
]);
const path = z.string().min(1).max(4096);

const uploadFile = z.object({
  path,
  content: z.string().optional().describe('Left out: "sha256" says what should be there already.'),
  encoding: z.enum(['utf8', 'base64']).optional().describe('Of the content. Default: utf8.'),
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional()
    .describe('Without content: the file is kept when it has this hash, and needed otherwise.'),
  executable: z.boolean().optional(),
});

export const upload = z.object({
  files: z.array(uploadFile).max(10_000).default([]),
  delete: z.array(path).max(10_000).optional().describe('Paths to be removed, folders with all that is in them.'),
});

export const uploaded = z.object({
  synced: z.number().int().describe('Files that were written.'),
  deleted: z.number().int(),
  needed: z.array(z.string()).describe('Paths whose content has to be sent: the workspace does not have that hash.'),
  workspace_lost: z.boolean().describe('The container had ended, so that the workspace was new and empty.'),
});

export const fileQuery = z.object({
  path,
  encoding: z.enum(['utf8', 'base64']).optional(),
  from: z.coerce.number().int().min(0).optional().describe('The first byte that is wanted. Default: 0.'),
});

export const fileContent = z.object({
  content: z.string(),
  size: z.number().int().describe('Of the whole file, in bytes.'),
  encoding: z.enum(['utf8', 'base64']),
  truncated: z.boolean().describe('There is more of the file: "from" reads on, where the bytes of this content end.'),
});

export const listQuery = z.object({ path: path.optional().describe('A folder. Default: the whole workspace.') });

export const fileList = z.object({
  files: z.array(
    z.object({
      path: z.string().describe('Below the folder that is listed.'),
      kind: z.enum(['file', 'folder', 'link', 'other']).describe('Links are not followed.'),
      size: z.number().int(),
      mode: z.string().describe('Say "644".'),
      sha256: z.string().nullable().describe('Of a file.'),
      problem: z.string().nullable().describe('Why it has no hash, or why nothing in it is listed.'),
    }),
  ),
});

export const killed = z.object({ killed: z.boolean() });
export const destroyed = z.object({ destroyed: z.literal(true) });

/** Every answer that is no success. */
export const refusal = z.object({
  detail: z.string().describe('What is wrong, in a sentence.'),
  code: z.string(),
  hint: z.string().optional(),
  written: z.array(z.string()).optional().describe('Of an upload that was not done in full.'),
  deleted: z.array(z.string()).optional(),
  failed: z.array(z.object({ path: z.string(), reason: z.string() })).optional(),
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
  warm: z.record(z.string(), z.number().int()).describe('Spare containers that are ready, by runtime.'),
  uptime_seconds: z.number(),
});
