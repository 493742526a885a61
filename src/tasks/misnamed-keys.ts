import { folded, nearest } from '../lib/text/nearest.ts';
import type { KnownKeys } from './schema.ts';

export type Place = 'graph' | 'task' | 'files' | 'verification';

/** Names that other tools, and people, use for what a run would go wrong without. */
const OTHER_NAMES: Readonly<Record<Place, Readonly<Record<string, readonly string[]>>>> = {
  graph: {},
  task: {
    dependencies: ['depends_on', 'depends', 'deps', 'requires', 'needs', 'blocked_by', 'after', 'prerequisites'],
    verification: ['verify', 'verification_command', 'verify_command', 'test_command'],
    files: ['files_owned', 'owned_files', 'files_to_create', 'files_to_modify', 'files_to_delete', 'target_files'],
    'files.create': ['create', 'creates'],
    'files.modify': ['modify', 'modifies'],
    'files.delete': ['delete', 'deletes'],
    run: ['command', 'cmd'],
    description: ['desc'],
    acceptance_criteria: ['acceptance', 'criteria'],
    attempts: ['retries', 'max_attempts', 'max_retries'],
  },
  files: {
    create: ['add', 'new', 'created'],
    modify: ['write', 'writes', 'change', 'edit', 'update', 'owned', 'files_owned', 'modified'],
    delete: ['remove', 'removed', 'deleted'],
    read: ['reads', 'reference', 'references', 'context'],
  },
  verification: {
    command: ['cmd', 'run', 'test'],
    timeout_seconds: ['timeout', 'timeout_secs', 'timeout_s'],
  },
};

/** The key that an unknown one most likely stands for; undefined when it is a key of some other program. */
export function meantBy(key: string, where: Place, { read }: KnownKeys): string | undefined {
  const isKey = (name: string): boolean => folded(name) === folded(key);
  const others = Object.entries(OTHER_NAMES[where]);
  return others.find(([, names]) => names.some(isKey))?.[0] ?? nearest(key, read);
}
