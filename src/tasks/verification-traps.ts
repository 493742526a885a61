/** Commands that cannot fail, or fail for the wrong reason, and what to write instead. */
const TRAPS: readonly (readonly [RegExp, string])[] = [
  [/\|\|\s*(true|:|echo\b|printf\b|exit 0)/, 'cannot fail: what comes after "||" succeeds'],
  [/;\s*(true|:|exit 0|echo\b[^;|&]*)\s*$/, 'cannot fail: only its last command counts, and that one always succeeds'],
  [/^\s*(true|:|exit 0|echo\b[^;|&]*)\s*$/, 'always succeeds'],
  [
    /\|\s*(tail|head|cat|tee|less|more|grep -v)\b[^|]*$/,
    'hides the failure of what comes before the "|": begin it with "set -o pipefail;"',
  ],
  [/(^|[^&])&\s*$/, 'ends before what it has started'],
  [/(^|[;&|]\s*)cd [^;&|]+;/, 'goes on where it is when the folder is missing: write "cd folder && …"'],
  [/--watch(?!=false)\b/, 'waits for changes for ever'],
  [/\b(npm|pnpm|yarn|bun) (install|add)\b/, 'installs packages, and needs a network: that belongs into workers.setup'],
];

/** Pure. Why a verification may say that a task is done when it is not. */
export function verificationTraps(command: string): readonly string[] {
  // What stands in quotes is data.
  const plain = command.replaceAll(/'[^']*'/g, "''");
  return TRAPS.filter(([pattern]) => pattern.test(plain)).map(([, problem]) => problem);
}
