import { readFileSync } from 'node:fs';

/** What the system tells in that file; empty when it does not. */
export function readSystemFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
