import { isShell, KEYWORDS } from './shell-parts.ts';
import { simpleCommands } from './shell-words.ts';

/** A program that runs the command in its arguments. */
interface Carrier {
  /** Its options that have a value, which may be the next word. */
  readonly valued?: string;
  readonly long?: readonly string[];
  /** Its options with which it runs nothing. */
  readonly idle?: string;
  /** How many words of its own come before the command. */
  readonly own?: number;
}

const CARRIERS: Readonly<Record<string, Carrier>> = {
  builtin: {},
  busybox: {},
  chrt: { own: 1, idle: 'hmpV' },
  command: { idle: 'vV' },
  env: { valued: 'uC', long: ['unset', 'chdir', 'argv0'] },
  exec: { valued: 'a' },
  flock: { valued: 'wE', long: ['timeout', 'conflict-exit-code'], own: 1 },
  ionice: { valued: 'cnpPu', long: ['class', 'classdata', 'pid', 'pgid', 'uid'], idle: 'hV' },
  nice: { valued: 'n', long: ['adjustment'] },
  nohup: {},
  setsid: { idle: 'hV' },
  stdbuf: { valued: 'ioe', long: ['input', 'output', 'error'] },
  strace: { valued: 'abeEIoOpPsSuUX', idle: 'hV' },
  taskset: { own: 1, idle: 'hpV' },
  time: { valued: 'fo', long: ['format', 'output'], idle: 'V' },
  timeout: { valued: 'ks', long: ['kill-after', 'signal'], own: 1 },
  watch: { valued: 'n', long: ['interval'], idle: 'hv' },
  xargs: { valued: 'adEILnPs', long: ['arg-file', 'delimiter', 'max-args', 'max-procs', 'max-chars'] },
};
/** Options of find that begin a command. */
const FIND_RUNS = new Set(['-exec', '-execdir', '-ok', '-okdir']);
/** Options of a shell that have a file in the next word. */
const SHELL_FILES = new Set(['--rcfile', '--init-file']);
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
  return firstRule(simpleCommands(text), (words) => ruleFor(words, depth));
}

function firstRule<Item>(items: readonly Item[], rule: (item: Item) => string | undefined): string | undefined {
  for (const item of items) {
    const found = rule(item);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ruleFor(words: readonly string[], depth: number): string | undefined {
  const begin = words.findIndex((word) => !KEYWORDS.has(word) && !ASSIGNMENT.test(word));
  if (begin === -1) return undefined;
  // A path that begins in the current folder is the workspace's own.
  const name = (words[begin] ?? '').replace(/^\/.*\//, '');
  const args = words.slice(begin + 1);
  const texts = textsIn(name, args);
  if (texts.length > 0) return firstRule(texts, (text) => deniedBy(text, depth + 1));
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

/** The arguments of this command that are shell texts themselves. */
function textsIn(name: string, args: readonly string[]): string[] {
  const own = args[0] === '--' ? args.slice(1) : args;
  if (name === 'eval') return [own.join(' ')];
  if (name === 'trap') return own.slice(0, 1);
  if (name === 'alias') return own.map((arg) => arg.replace(/^[^=]*=?/, ''));
  if (name === 'env') return splitTexts(args);
  return isShell(name) ? shellTexts(args) : [];
}

/** What a shell runs with its option -c: the first word that is no option. */
function shellTexts(args: readonly string[]): string[] {
  let isText = false;
  let at = 0;
  for (; at < args.length && /^[-+]/.test(args[at] ?? '') && args[at] !== '--'; at += 1) {
    const option = args[at] ?? '';
    const letters = option.startsWith('--') ? '' : option.slice(1);
    if (letters.includes('c')) isText = true;
    if (/o/i.test(letters) || SHELL_FILES.has(option)) at += 1;
  }
  return isText ? args.slice(args[at] === '--' ? at + 1 : at).slice(0, 1) : [];
}

/** With its option -S, env splits a text into words. */
function splitTexts(args: readonly string[]): string[] {
  for (const [at, arg] of args.entries()) {
    if (!arg.startsWith('-')) return [];
    const [, text] = /^(?:-[iv0]*S|--split-string=?)([^]*)$/.exec(arg) ?? [];
    if (text !== undefined) return [[text, ...args.slice(at + 1)].join(' ')];
  }
  return [];
}

function inFind(args: readonly string[], depth: number): string | undefined {
  const begins = args.flatMap((arg, at) => (FIND_RUNS.has(arg) ? [at + 1] : []));
  return firstRule(begins, (begin) => ruleFor(args.slice(begin), depth + 1));
}

/** The command that a carrier runs: after its options, its assignments and its own arguments. */
function carried(args: readonly string[], carrier: Carrier): string[] {
  let at = 0;
  for (; at < args.length; at += 1) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      at += 1;
      break;
    }
    if (!arg.startsWith('-') && !ASSIGNMENT.test(arg)) break;
    const { isIdle, isValueNext } = optionOf(arg, carrier);
    if (isIdle) return [];
    if (isValueNext) at += 1;
  }
  return args.slice(at + (carrier.own ?? 0));
}

function optionOf(
  arg: string,
  { valued = '', long = [], idle = '' }: Carrier,
): { readonly isIdle: boolean; readonly isValueNext: boolean } {
  if (/^--(help|version)$/.test(arg)) return { isIdle: true, isValueNext: false };
  if (arg.startsWith('--')) return { isIdle: false, isValueNext: long.includes(arg.slice(2)) };
  const [flags = '', value] = arg.startsWith('-') ? arg.slice(1).split(new RegExp(`[${valued}]`), 2) : [];
  return { isIdle: idle !== '' && new RegExp(`[${idle}]`).test(flags), isValueNext: value === '' };
}

function removal(args: readonly string[]): string | undefined {
  const options = args.filter((arg) => arg.startsWith('-'));
  if (!options.some((option) => option === '--recursive' || /^-[a-zA-Z]*[rR]/.test(option))) return undefined;
  if (args.some(isRoot)) return 'rm -rf /';
  return args.some((arg) => /^(~|\$HOME|\$\{HOME\})(\/\*?)?$/.test(arg)) ? 'rm -rf ~' : undefined;
}

const isRoot = (arg: string): boolean => /^\/[./]*\*?$/.test(arg);
