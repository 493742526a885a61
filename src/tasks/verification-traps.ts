/** Commands that succeed, with their words. */
const SUCCESS = String.raw`(true|:|exit 0|(echo|printf)\b[^;|&\n]*)`;
/** Those, and commands that show a file. */
const SHOWN = String.raw`(true|:|exit 0|(echo|printf|cat|head|tail|date)\b[^;|&\n]*)`;
/** Programs that succeed whatever comes in. */
const FILTERS = '(tail|head|cat|tee|less|more|sort|uniq|wc|sed|awk|tr|cut|column|nl|grep -v)';

const ANYWAY = 'cannot fail: what comes after "||" succeeds';
const LAST = 'cannot fail: only its last command counts, and that one always succeeds';

/** Commands that cannot fail, or fail for the wrong reason, and what to write instead. */
const TRAPS: readonly (readonly [RegExp, string])[] = [
  [new RegExp(String.raw`\|\|\s*${SHOWN}\s*(;|\n|$|&&(?!\s*(exit\s+[1-9]|false\b)))`), ANYWAY],
  [new RegExp(String.raw`\|\|\s*[({]\s*([^)}]*;\s*)?${SHOWN}\s*;?\s*[)}]`), ANYWAY],
  [new RegExp(String.raw`[;\n]\s*${SUCCESS}\s*;?\s*$`), LAST],
  [new RegExp(String.raw`\b(then|else)\s+${SUCCESS}\s*;?\s*fi\s*;?\s*$`), LAST],
  [/&\s*wait\s*;?\s*$/, 'cannot fail: "wait" without a process succeeds'],
  [new RegExp(String.raw`^\s*${SUCCESS}\s*;?\s*$`), 'always succeeds'],
  [
    new RegExp(String.raw`^(?!.*\bpipefail\b).*[^|]\|\s*${FILTERS}\b[^|)]*$`, 's'),
    'hides the failure of what comes before the "|": begin it with "set -o pipefail;"',
  ],
  [/(^|[^&])&\s*$/, 'ends before what it has started'],
  [/(^|[;&|]\s*)cd [^;&|]+;/, 'goes on where it is when the folder is missing: write "cd folder && …"'],
  [/--watch(?!=false)\b/, 'waits for changes for ever'],
  [/\b(npm|pnpm|yarn|bun) (install|add)\b/, 'installs packages, and needs a network: that belongs into workers.setup'],
];

/** A longer command is not looked at. The expressions may take the square of its length, and anybody may have written it. */
const LONGEST = 2000;

/** Pure. Why a verification may say that a task is done when it is not. */
export function verificationTraps(command: string): readonly string[] {
  const short = withShortBlanks(command);
  if (short.length > LONGEST) return [];
  const plain = withoutData(short);
  return [...new Set(TRAPS.filter(([pattern]) => pattern.test(plain)).map(([, problem]) => problem))];
}

/** What stands in quotes is data, unless a shell is to run it. */
function withoutData(command: string): string {
  const quoted = /(\b(?:ba|da|z)?sh\s+-\w*c\s+)?('[^']*'|"(?:[^"\\]|\\.)*")/g;
  return command.replaceAll(quoted, (_, shell: string | undefined, text: string) =>
    shell === undefined ? `${text[0]}${text[0]}` : `${shell}${text.slice(1, -1)}`,
  );
}

/** Long blanks would take an expression the cube of their length. */
function withShortBlanks(command: string): string {
  return command.replaceAll(/\s+/g, (blanks) => (blanks.includes('\n') ? '\n' : ' '));
}
