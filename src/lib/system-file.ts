import { readFileSync } from 'node:fs';

/** The text of a file of the kernel; empty when it cannot be read. */
export function readSystemFile(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
