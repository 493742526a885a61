/** Longest id of a task: part of refs, and of lines at the terminal. */
export const LONGEST_ID = 64;

/** The nearest text that may be the id of a task. */
export function proposedId(text: string): string {
  const words = text
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replace(/^[._-]+/, '')
    .slice(0, LONGEST_ID - 1)
    .replace(/\.lock$/, '-lock')
    .replace(/[._-]+$/, '');
  if (words === '') return 'TASK';
  return /^\d+$/.test(words) ? `T${words}` : words;
}
