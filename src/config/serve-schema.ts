import { z } from 'zod';
import { duration, sizeOf, UNIT_BYTES } from './amounts.ts';
import { DEFAULT_LANGUAGES, DEFAULT_RUNTIMES } from './serve-defaults.ts';

const language = z.strictObject({
  image: z.string().min(1),
  extension: z.string().regex(/^\.[A-Za-z0-9]{1,10}$/, 'expected an extension such as ".py"'),
  command: z.array(z.string().min(1)).min(1).describe('Program and arguments. "{filepath}" is the file of the code.'),
});

const runtime = z.strictObject({
  image: z.string().min(1),
  setup: z.string().min(1).optional().describe('Runs before the default command.'),
  setup_files: z
    .array(z.string().min(1))
    .optional()
    .describe('What the set-up reads: it is done again when one of them has changed, and not without any of them.'),
  default_command: z.string().min(1).describe('Runs when a request names no command.'),
  needs: z.string().min(1).optional().describe('A file without which the default command cannot run.'),
});

const partOfRuntime = runtime.partial();

const LANGUAGES: Readonly<Record<string, z.infer<typeof language>>> = DEFAULT_LANGUAGES;
const RUNTIMES: Readonly<Record<string, z.infer<typeof runtime>>> = DEFAULT_RUNTIMES;

/** What is known of a default runtime goes for its set-up and its command, also with another image. */
function wholeRuntime(name: string, wish: z.infer<typeof partOfRuntime>): object {
  const known = RUNTIMES[name];
  const { image = known?.image, default_command = known?.default_command } = wish;
  // Another command may need no set-up.
  const { setup = wish.default_command === undefined ? known?.setup : undefined } = wish;
  const setupFiles = setup === known?.setup ? known?.setup_files : undefined;
  const needs = default_command === known?.default_command ? known?.needs : undefined;
  return { setup_files: setupFiles, needs, ...wish, image, setup, default_command };
}

const mapped = <Wish, Whole>(wishes: Record<string, Wish>, whole: (name: string, wish: Wish) => Whole) =>
  Object.fromEntries(Object.entries(wishes).map(([name, wish]) => [name, whole(name, wish)]));

/** What `mahabharatha serve` offers. */
export const serve = z.strictObject({
  host: z.string().min(1).default('127.0.0.1').describe('Any other address needs a token file.'),
  port: z.int().min(0).max(65_535).default(8000).describe('0: any free one.'),
  cors: z
    .array(z.string().regex(/^https?:\/\/[^/]+$/, 'expected an origin such as "http://localhost:3000"'))
    .default(['http://localhost:3000'])
    .describe('Origins of pages that may ask the server.'),
  log_level: z
    .enum(['debug', 'info', 'warn', 'error'])
    .default('info')
    .describe('What is logged: "info" has containers, sessions and executions, "debug" each request as well.'),
  limits: z
    .strictObject({
      sessions: z.int().min(1).max(1000).default(32).describe('Open at a time.'),
      warm: z
        .int()
        .min(0)
        .max(100)
        .default(1)
        .describe('Spare containers of each runtime, so that a session is there at once.'),
      idle: duration.prefault('30m').describe('A session that is idle for so long is ended.'),
      cpus: z.number().min(0.1).max(1024).default(1).describe('Of one session.'),
      memory: sizeOf(64 * UNIT_BYTES.m)
        .prefault('2g')
        .describe('Of one session; its workspace counts as well.'),
      disk: sizeOf(UNIT_BYTES.m)
        .prefault('512m')
        .describe('Size of the workspace, of the home folder and of /tmp, each.'),
      cache: sizeOf(UNIT_BYTES.m)
        .prefault('2g')
        .describe('What the cache of a project may hold on the disk: its node_modules and .venv.'),
      user_requests: z
        .int()
        .min(1)
        .default(12_000)
        .describe('Requests of one user in a minute; as many may come at once.'),
      project_requests: z
        .int()
        .min(1)
        .default(6000)
        .describe('Requests in a minute to the sessions of one project of one user.'),
      processes: z.int().min(8).max(10_000).default(64).describe('Processes and threads of one session.'),
    })
    .prefault({}),
  network: z
    .strictObject({
      allow: z
        .array(z.string().meta({ minLength: 1 }))
        .default(['npm', 'pypi.org', 'files.pythonhosted.org', 'github.com'])
        .describe(
          'What sessions that ask for a network may reach: presets (npm, pypi, github), names, addresses with a port.',
        ),
    })
    .prefault({}),
  runtimes: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'a name has small letters, digits, dashes and underscores'),
      partOfRuntime,
    )
    .transform((wishes) => mapped(wishes, wholeRuntime))
    .pipe(z.record(z.string(), runtime))
    .prefault({})
    .describe(
      'What sessions run in, by runtime_type, beside "node", "python" and "shell": of those, what is left out stays as it is.',
    ),
  languages: z
    .record(
      z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/, 'a name has small letters, digits, dashes and underscores'),
      language.partial(),
    )
    .transform((wishes) => mapped(wishes, (name, wish) => ({ ...LANGUAGES[name], ...wish })))
    .pipe(z.record(z.string(), language))
    .prefault(DEFAULT_LANGUAGES)
    .describe(
      'Languages of POST /execute/<language>, in place of "python" and "ruby"; each has one container that stays warm. Of these two, what is left out is as by default.',
    ),
});
