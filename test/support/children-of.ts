import { readFileSync, readdirSync } from 'node:fs';

/** The children of a process on Linux whose command has this word. */
export function childrenOf(parent: number, word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isChild(name, parent, word))
    .map(Number);
}

function isChild(name: string, parent: number, word: string): boolean {
  try {
    const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
    const [state, ppid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state !== 'Z' && Number(ppid) === parent && readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(word);
  } catch {
    return false;
  }
}
