import { defineErrors } from '../lib/app-error.ts';
import { inBytes } from '../lib/text/amounts.ts';

export const sandboxErrors = defineErrors({
  SESSION_UNKNOWN: {
    kind: 'usage',
    example: { session: 'session_1234abcd' },
    message: (f) => `There is no session ${f.session}.`,
    hint: () => 'GET /v1/sessions lists the open ones; a session ends when it was idle for its time to live.',
  },
  SESSION_ENDED: {
    kind: 'usage',
    example: { session: 'session_1234abcd' },
    message: (f) => `The session ${f.session} was ended before this was done.`,
    hint: () => 'Open another session.',
  },
  SESSION_BUSY: {
    kind: 'usage',
    example: { session: 'session_1234abcd' },
    message: (f) => `The session ${f.session} is running a command, and runs one at a time.`,
    hint: () => 'Wait for its end, end it with /kill, or open another session.',
  },
  SESSIONS_FULL: {
    kind: 'environment',
    example: { limit: 16 },
    message: (f) => `There are ${f.limit} sessions open, and no more are allowed.`,
    hint: () => 'End one with DELETE, or try again later.',
  },
  CACHE_BUSY: {
    kind: 'usage',
    example: { project: 'demo', runtime: 'node' },
    message: (f) => `Another session has the cache of the project ${f.project} with the runtime ${f.runtime}.`,
    hint: () => 'End that session with DELETE, or open this one without "cache".',
  },
  CACHE_TOO_LARGE: {
    kind: 'usage',
    example: { problem: 'holds more than 2 GiB', limit: 2 * 1024 ** 3 },
    message: (f) =>
      `The cache of the project (node_modules and .venv) ${f.problem}. The limit is ${inBytes(f.limit)} (serve.limits.cache).`,
    hint: () => 'End the session with DELETE: the next one begins with an empty cache.',
  },
  SESSION_UNABLE: {
    kind: 'environment',
    example: { what: 'network' },
    message: (f) => `The container engine of this server gives sessions no ${f.what}.`,
    hint: () => 'Open the session without it; docs/engines.md says what an engine may lack.',
  },
  RUNTIME_UNKNOWN: {
    kind: 'usage',
    example: { runtime: 'perl', known: ['node', 'python', 'shell'] },
    message: (f) => `There is no runtime "${f.runtime}": there are ${f.known.join(', ')}.`,
    hint: () => 'Name one of them as runtime_type.',
  },
  COMMAND_DENIED: {
    kind: 'usage',
    example: { rule: 'rm -rf /' },
    message: (f) => `The command is refused by the rule "${f.rule}".`,
    hint: () => 'Commands of this kind have no use in a sandbox; docs/serve.md has the list.',
  },
  LANGUAGE_UNKNOWN: {
    kind: 'usage',
    example: { language: 'cobol', known: ['python', 'ruby'] },
    message: (f) => `There is no language "${f.language}": there are ${f.known.join(', ')}.`,
    hint: () => 'Add it under serve.languages of the configuration: an image, an extension, a command.',
  },
  RUNNER_BUSY: {
    kind: 'environment',
    example: { language: 'python', waiting: 64 },
    message: (f) => `${f.waiting} programs wait to be run as ${f.language} already.`,
    hint: () => 'Try again in a few seconds.',
  },
  PROGRAM_REFUSED: {
    kind: 'environment',
    example: { reason: 'ENOSPC: no space left on device' },
    message: (f) => `The program could not be run in its sandbox: ${f.reason}.`,
    hint: () =>
      'Other programs have used up the memory or the processes of the container: try again when they have ended.',
  },
  FILE_MISSING: {
    kind: 'usage',
    example: { path: 'src/main.ts' },
    message: (f) => `There is no ${f.path} in the workspace.`,
    hint: () => 'GET /v1/sessions/{id}/files lists what is there.',
  },
  PATH_REFUSED: {
    kind: 'usage',
    example: { path: '../etc/passwd', reason: 'it leads out of the workspace' },
    message: (f) => `The path ${f.path} cannot be used: ${f.reason}.`,
    hint: () => 'Paths are relative to the workspace, without "..", and no link on the way is followed.',
  },
  SANDBOX_IMAGE_MISSING: {
    kind: 'environment',
    example: {
      image: 'ruby:3.2-slim',
      reason: 'no such host',
      setting: '{"runtimes":{"ruby":{"image":"mahabharatha-ruby:bookworm","default_command":"ruby main.rb"}}}',
    },
    message: (f) =>
      `There is no image ${f.image}${f.reason === '' ? '' : `, and it could not be fetched: ${f.reason}`}.`,
    hint: (f) =>
      `Without a registry, docker/air-gapped/build-runtimes.sh makes images of Debian's packages. To use them, write into the configuration: serve: ${f.setting}`,
  },
  ENV_FILE_INVALID: {
    kind: 'usage',
    example: { file: '.env', problems: ['line 3: it is not NAME=value'] },
    message: (f) => `The file ${f.file} cannot be used as environment: ${f.problems.join('; ')}.`,
    hint: () =>
      'Each line is NAME=value, with quotes around a value that has blanks or "#" in it; nothing is expanded.',
  },
  NOTHING_TO_RUN: {
    kind: 'usage',
    example: { command: 'npm test', file: '/workspace/demo/package.json' },
    message: (f) => `The default command "${f.command}" needs ${f.file}, which is not there.`,
    hint: () => 'Upload it, or name a command.',
  },
  NETWORK_REFUSED: {
    kind: 'usage',
    example: { hosts: ['example.org'], allowed: ['npm', 'github.com'] },
    message: (f) =>
      `Sessions of this server may not reach ${f.hosts.join(', ')}: they may reach ${f.allowed.join(', ') || 'nothing'}.`,
    hint: () => 'Name hosts of that list, or add them under serve.network.allow of the configuration.',
  },
  COMMAND_TOO_LARGE: {
    kind: 'usage',
    example: { bytes: 2_000_000, limit: 786_432 },
    message: (f) => `The command with its variables has ${f.bytes} bytes, and ${f.limit} are the most.`,
    hint: () => 'Upload it as a file, and name the file.',
  },
  TREE_TOO_LARGE: {
    kind: 'usage',
    example: { reason: 'it has more than 20000 entries' },
    message: (f) => `The folder is too large to be listed: ${f.reason}.`,
    hint: () => 'List a folder below it with ?path=, or remove what is not needed.',
  },
  SANDBOX_GONE: {
    kind: 'environment',
    example: { reason: 'its container was killed' },
    message: (f) => `The sandbox has ended: ${f.reason}.`,
    hint: () => 'Send the request again: a new sandbox is made.',
  },
  SANDBOX_NOT_READY: {
    kind: 'environment',
    example: { image: 'python:3.10-slim', reason: 'its container ended with exit status 127' },
    message: (f) => `A sandbox of the image ${f.image} could not be made ready: ${f.reason}.`,
    hint: () => 'The image needs sh, mkfifo and the C library of Debian or Ubuntu (not musl).',
  },
});
