/** Pure. Words as a shell reads them again, each as it is. */
export function asCommand(words: readonly string[]): string {
  return words.map(quoted).join(' ');
}

const quoted = (word: string): string =>
  /^[\w./:=@+-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
