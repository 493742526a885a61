import { clip } from '../../lib/index.ts';

const LONGEST = 500;

/** The program's own words in a refusal: the last line that begins with "Error", or the last one at all. */
export function reasonIn(stderr: string, code: number | null): string {
  const lines = stderr.split('\n').flatMap((line) => (line.trim() === '' ? [] : [line.trim()]));
  const said = lines.findLast((line) => line.startsWith('Error')) ?? lines.at(-1);
  if (said === undefined) return code === null ? 'it was killed' : `exit code ${code}`;
  return clip(said.replace(/^Error: /, '').replace(/\.$/, ''), LONGEST);
}

/** Before version 1.0 nothing is said of a container that is not there: its list is empty. */
export const isMissingThing = (stderr: string): boolean => /\bnot ?found\b|\bno such\b/i.test(stderr);

export const isTaken = (stderr: string): boolean => /\balready exists\b/i.test(stderr);

/** The program is there, and what it speaks to does not run. */
export const isStopped = (stderr: string): boolean =>
  /XPC connection error|container system start|apiserver is not running/i.test(stderr);

/** The program says so itself, in a known form and before all else; a program in a container may print anything else. */
export const isRefusal = (stderr: string): boolean => /^Error: [a-zA-Z]+: "/.test(stderr);
