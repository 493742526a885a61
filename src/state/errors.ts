import { defineErrors } from '../lib/app-error.ts';
import { bullets } from '../lib/text/words.ts';

export const stateErrors = defineErrors({
  ALREADY_RUNNING: {
    kind: 'usage',
    example: { feature: 'login', pid: 7, since: '2026-11-18T08:00:00.000Z' },
    message: (f) => `Feature "${f.feature}" is already being built by process ${f.pid} (since ${f.since}).`,
    hint: (f) =>
      `Watch it with: mahabharatha status --feature ${f.feature} --watch — or end it with: mahabharatha stop --feature ${f.feature}`,
  },
  LOCK_LOST: {
    kind: 'environment',
    example: { feature: 'login', file: '/p/lock.json', pid: 1, host: 'here' },
    message: (f) =>
      `The lock of the run of "${f.feature}" was removed (${f.file}), and process ${f.pid} on ${f.host} has taken it since: this run has stopped, and that process writes the state now.`,
    hint: (f) => `See what goes on now with: mahabharatha status --feature ${f.feature}`,
  },
  STATE_INVALID: {
    kind: 'environment',
    example: { file: 'login.json', problems: ['it is not JSON'] },
    message: (f) => `${f.file} cannot be used:${bullets(f.problems)}`,
    hint: () =>
      'Nothing was changed. Restore the file, or remove the run with: mahabharatha cleanup (branches are listed before anything goes).',
  },
  STATE_VERSION: {
    kind: 'environment',
    example: { file: 'login.json', found: '99', known: 1 },
    message: (f) => `${f.file} has version ${f.found}; this program knows version ${f.known}.`,
    hint: () => 'Use the version of Mahabharatha that wrote it, or clean the run up with that version.',
  },
});
