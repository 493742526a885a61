/* oxlint-disable no-control-regex -- this file is about control characters */
/** A sequence that a terminal obeys, up to its end. */
const SEQUENCE =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|.)?/gs;
/** Colours of letters, bold, dim, italic and underlined; not what hides text or changes the background. */
const COLOR = /^\u001B\[(?:[0-4]|2[2-4]|3[1-7]|39|9[0-7])?(?:;(?:[0-4]|2[2-4]|3[1-7]|39|9[0-7]))*m$/;
/** All but line ends and tabs. Marks that turn the direction of writing make a text look like another one. */
const CONTROL = /[^\P{Cc}\n\t\u001B]|[\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;
/** What moves the cursor, turns the direction of writing, breaks the line or is invisible. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
/** The same for JSON text, which has line ends between its values. */
const UNSEEN_IN_JSON = /[^\P{Cc}\n]|[\p{Cf}\p{Zl}\p{Zp}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/**
 * Text that may be written to a terminal. Only the functions of this file make it, and the CLI writes nothing else: code
 * that would write a text from outside unchanged does not compile.
 */
class SafeText {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}
// The class is not exported, so that no other file can make one.
export type Printable = SafeText;

/** Our own words with values in them: each value stays in one line, and its invisible characters are shown as `\u001b`. */
export function line(words: TemplateStringsArray, ...values: readonly (string | number | Printable)[]): Printable {
  return new SafeText(words.reduce((text, word, index) => `${text}${valueOf(values[index - 1])}${word}`));
}

function valueOf(value: string | number | Printable | undefined): string {
  return value instanceof SafeText ? value.toString() : visible(String(value));
}

/** Any text as part of one line. */
export function printable(text: string): Printable {
  return new SafeText(visible(text));
}

/** One line of a program's output, without cursor movements, and without colours unless they are wanted. */
export function printableOutput(text: string, color = false): Printable {
  let shown = '';
  let colored = false;
  let from = 0;
  for (const { 0: sequence, index } of text.matchAll(SEQUENCE)) {
    const keep = color && COLOR.test(sequence);
    shown += outputPart(text.slice(from, index)) + (keep ? sequence : '');
    colored ||= keep;
    from = index + sequence.length;
  }
  return new SafeText(shown + outputPart(text.slice(from)) + (colored ? '\u001B[0m' : ''));
}

const outputPart = (text: string): string => visible(text.replaceAll('\t', '    ').replaceAll('\r', ''));

/** A text of several lines. All but the first begin with the margin, so that none looks like a line of ours. */
export function printableBlock(text: string, margin: string): Printable {
  const lines = text.split('\n').map((one) => printableOutput(one).toString());
  const inset = lines.map((one, index) => (index === 0 || one === '' || one.startsWith(margin) ? one : margin + one));
  return new SafeText(inset.join('\n'));
}

export function joined(parts: readonly Printable[], separator: string): Printable {
  return new SafeText(parts.map(String).join(separator));
}

/** Each with a line end. */
export function printableLines(lines: readonly Printable[]): Printable {
  return new SafeText(lines.map((one) => `${one.toString()}\n`).join(''));
}

/** JSON for programs. A terminal obeys no character of it, since a program may print it. */
export function printableJson(value: unknown): Printable {
  return new SafeText(JSON.stringify(value).replaceAll(UNSEEN_IN_JSON, escaped));
}

/** Between two codes, one that sets how letters look and one that resets it. */
export function painted(text: string | Printable, open: number, close: number): Printable {
  return new SafeText(`\u001B[${open}m${valueOf(text)}\u001B[${close}m`);
}

/** The other screen of a terminal, which has no memory of lines: without a cursor, and long lines are cut. */
export const ENTER_SCREEN: Printable = new SafeText('\u001B[?1049h\u001B[?25l\u001B[?7l');
/** The first screen again, as it was. */
export const LEAVE_SCREEN: Printable = new SafeText('\u001B[?7h\u001B[?25h\u001B[?1049l');

/** Terminals that know it show what is between at once; the others leave it out. */
const [HOLD, SHOW] = ['\u001B[?2026h', '\u001B[?2026l'] as const;

/**
 * Lines over those that are on the screen. A row is cleared before it is written, because behind a full one its last letter
 * would be cleared; the last line has no line end, which would move all of them up.
 */
export function overwriting(lines: readonly Printable[]): Printable {
  const whole = lines.map((one) => `\u001B[K${one.toString()}`).join('\r\n');
  return new SafeText(`${HOLD}\u001B[H${whole}\u001B[H${SHOW}`);
}

export const CLEAR_LINE: Printable = new SafeText('\r\u001B[2K');

/** A text from outside without what a terminal would obey. Its line ends stay, so it is still no Printable. */
export function withoutControls(text: string): string {
  return text.replaceAll(SEQUENCE, '').replaceAll(CONTROL, '');
}

const visible = (text: string): string => text.replaceAll(UNSEEN, (char) => SHORT[char] ?? escaped(char));

function escaped(char: string): string {
  const units = Array.from({ length: char.length }, (_, index) => char.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}
