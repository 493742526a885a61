import { isShell, simpleCommands } from './shell-words.ts';

/** A program that runs the command in its arguments. */
interface Carrier {
  /** Its options that have a value in the next word. */
  readonly valued?: string;
  /** How many words of its own come before the command. */
  readonly own?: number;
}

const CARRIERS: Readonly<Record<string, Carrier>> = {
  builtin: {},
  command: {},
  env: { valued: 'uCS' },
  exec: { valued: 'a' },
  ionice: { valued: 'cnpPu' },
  nice: { valued: 'n' },
  nohup: {},
  setsid: {},
  stdbuf: { valued: 'ioe' },
  time: { valued: 'fo' },
  timeout: { valued: 'ks', own: 1 },
  watch: { valued: 'n' },
  xargs: { valued: 'adEILnPs' },
};
/** Options of find that begin a command. */
const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
/** Words of the shell that come before a command. */
const KEYWORDS = new Set(['!', '{', 'coproc', 'do', 'elif', 'else', 'if', 'then', 'until', 'while']);
const PROGRAMS = new Set(['sudo', 'mount', 'chroot', 'curl', 'wget', 'ssh', 'nc']);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*\+?=/;
/** Deep enough for what people write; what is deeper has a reason to be. */
const DEEPEST = 8;

/**
 * The rule that a shell text breaks; undefined when it breaks none. It prevents mistakes only: a command can be
 * hidden from any list. What it can reach is limited by its container.
 */
export function deniedBy(text: string, depth = 0): string | undefined {
  if (depth > DEEPEST) return 'too many commands inside one another';
  for (const words of simpleCommands(text)) {
    const rule = ruleFor(words, depth);
    if (rule !== undefined) return rule;
  }
  return undefined;
}

function ruleFor(words: readonly string[], depth: number): string | undefined {
  const begin = words.findIndex((word) => !KEYWORDS.has(word) && !ASSIGNMENT.test(word));
  if (begin === -1) return undefined;
  // A path that begins in the current folder is the workspace's own.
  const name = (words[begin] ?? '').replace(/^\/.*\//, '');
  const args = words.slice(begin + 1);
  if (name === 'eval') return deniedBy(args.join(' '), depth + 1);
  if (isShell(name)) return inShell(args, depth);
  if (name === 'trap') return deniedBy(args[0] ?? '', depth + 1);
  if (name === 'command' && /^-[vV]$/.test(args[0] ?? '')) return undefined;
  if (name === 'find') return inFind(args, depth);
  const carrier = Object.hasOwn(CARRIERS, name) ? CARRIERS[name] : undefined;
  if (carrier !== undefined) return ruleFor(carried(args, carrier), depth + 1);
  return PROGRAMS.has(name) ? name : ruleByArguments(name, args);
}

function ruleByArguments(name: string, args: readonly string[]): string | undefined {
  if (name === 'rm') return removal(args);
  if (/^mkfs($|[.])/.test(name)) return 'mkfs';
  if (name === 'dd') return args.some((arg) => arg.startsWith('if=')) ? 'dd if=' : undefined;
  const opens = name === 'chmod' && args.some((arg) => /^(0?777|(a|ugo)?[+=]rwx)$/.test(arg)) && args.some(isRoot);
  return opens ? 'chmod 777 /' : undefined;
}

function inShell(args: readonly string[], depth: number): string | undefined {
  const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  return at === -1 ? undefined : deniedBy(args[at + 1] ?? '', depth + 1);
}

function inFind(args: readonly string[], depth: number): string | undefined {
  const at = args.findIndex((arg) => FIND_RUNS.has(arg));
  return at === -1 ? undefined : ruleFor(args.slice(at + 1), depth + 1);
}

/** The command that a carrier runs: after its options, its assignments and its own arguments. */
function carried(args: readonly string[], { valued = '', own = 0 }: Carrier): string[] {
  const isValue = (at: number): boolean =>
    at > 0 && valued !== '' && new RegExp(`^-[${valued}]$`).test(args[at - 1] ?? '');
  const begin = args.findIndex((arg, at) => !arg.startsWith('-') && !ASSIGNMENT.test(arg) && !isValue(at));
  return begin === -1 ? [] : args.slice(begin + own);
}

function removal(args: readonly string[]): string | undefined {
  const options = args.filter((arg) => arg.startsWith('-'));
  if (!options.some((option) => option === '--recursive' || /^-[a-zA-Z]*[rR]/.test(option))) return undefined;
  if (args.some(isRoot)) return 'rm -rf /';
  return args.some((arg) => /^(~|\$HOME|\$\{HOME\})(\/\*?)?$/.test(arg)) ? 'rm -rf ~' : undefined;
}

const isRoot = (arg: string): boolean => /^\/+(\.?\/*)*\*?$/.test(arg);
