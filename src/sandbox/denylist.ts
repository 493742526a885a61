import { simpleCommands } from './shell-words.ts';

/** Programs that run the command in their arguments. The number: how many of their own arguments come before it. */
const CARRIERS: Readonly<Record<string, number>> = {
  builtin: 0,
  command: 0,
  env: 0,
  exec: 0,
  ionice: 0,
  nice: 0,
  nohup: 0,
  setsid: 0,
  stdbuf: 0,
  time: 0,
  timeout: 1,
  xargs: 0,
};
const SHELLS = new Set(['bash', 'dash', 'sh', 'zsh', 'ksh']);
/** Words of the shell that come before a command. */
const KEYWORDS = new Set(['!', '{', 'do', 'elif', 'else', 'if', 'then', 'until', 'while']);
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
  const name = (words[begin] ?? '').replace(/^.*\//, '');
  const args = words.slice(begin + 1);
  if (name === 'eval') return deniedBy(args.join(' '), depth + 1);
  if (SHELLS.has(name)) return inShell(args, depth);
  if (Object.hasOwn(CARRIERS, name)) return ruleFor(carried(args, CARRIERS[name] ?? 0), depth + 1);
  return PROGRAMS.has(name) ? name : ruleByArguments(name, args);
}

function ruleByArguments(name: string, args: readonly string[]): string | undefined {
  if (name === 'rm') return removal(args);
  if (/^mkfs($|[.])/.test(name)) return 'mkfs';
  if (name === 'dd') return args.some((arg) => arg.startsWith('if=')) ? 'dd if=' : undefined;
  const opens = name === 'chmod' && args.some((arg) => /^0?777$/.test(arg)) && args.some(isRoot);
  return opens ? 'chmod 777 /' : undefined;
}

function inShell(args: readonly string[], depth: number): string | undefined {
  const at = args.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  return at === -1 ? undefined : deniedBy(args[at + 1] ?? '', depth + 1);
}

/** The command that a carrier runs: after its options, its assignments and its own arguments. */
function carried(args: readonly string[], own: number): string[] {
  const begin = args.findIndex((arg) => !arg.startsWith('-') && !ASSIGNMENT.test(arg));
  return begin === -1 ? [] : args.slice(begin + own);
}

function removal(args: readonly string[]): string | undefined {
  const options = args.filter((arg) => arg.startsWith('-'));
  if (!options.some((option) => option === '--recursive' || /^-[a-zA-Z]*[rR]/.test(option))) return undefined;
  if (args.some(isRoot)) return 'rm -rf /';
  return args.some((arg) => /^(~|\$HOME|\$\{HOME\})(\/\*?)?$/.test(arg)) ? 'rm -rf ~' : undefined;
}

const isRoot = (arg: string): boolean => /^\/+(\.?\/*)*\*?$/.test(arg);
