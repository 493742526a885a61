import { folded, nearest } from '../lib/text/nearest.ts';
import type { KnownKeys } from './schema.ts';

/** Names that other tools, and people, use for what a run would break without. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  dependencies: ['depends_on', 'depends', 'deps', 'requires', 'needs', 'blocked_by', 'after', 'prerequisites'],
  verification: ['verify', 'verification_command', 'verify_command', 'validation', 'test_command'],
  files: ['files_owned', 'owned_files', 'files_to_create', 'files_to_modify', 'files_to_delete', 'target_files'],
  'files.create': ['create', 'creates'],
  'files.modify': ['modify', 'modifies'],
  'files.delete': ['delete', 'deletes'],
  run: ['command', 'cmd', 'shell'],
  description: ['desc'],
  acceptance_criteria: ['acceptance', 'criteria'],
  attempts: ['retries', 'max_attempts', 'max_retries'],
};
const IN_FILES: Readonly<Record<string, readonly string[]>> = {
  create: ['add', 'new', 'created'],
  modify: ['write', 'writes', 'change', 'edit', 'update', 'owned', 'files_owned', 'modified'],
  delete: ['remove', 'removed', 'deleted'],
  read: ['reads', 'reference', 'references', 'context'],
};
const IN_VERIFICATION: Readonly<Record<string, readonly string[]>> = {
  command: ['cmd', 'run', 'test'],
  timeout_seconds: ['timeout', 'timeout_secs', 'timeout_s'],
};

export type Place = 'graph' | 'task' | 'files' | 'verification';

const BY_PLACE: Readonly<Record<Place, Readonly<Record<string, readonly string[]>>>> = {
  graph: {},
  task: OTHER_NAMES,
  files: IN_FILES,
  verification: IN_VERIFICATION,
};

/** The key that an unknown one most likely stands for; undefined when it is a key of some other program. */
export function meantBy(key: string, where: Place, { read }: KnownKeys): string | undefined {
  const others = Object.entries(BY_PLACE[where]);
  return others.find(([, names]) => names.some((name) => folded(name) === folded(key)))?.[0] ?? nearest(key, read);
}
