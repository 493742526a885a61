const INSTEAD = '[redacted]';

/**
 * What is shorter is no secret that anybody could not guess, and stands in too many words: a password "test" would take
 * that word out of every log.
 */
const SHORTEST = 8;

export type Redactor = (text: string) => string;

/** Takes secrets out of a text, by their value: as they are, and as they look within JSON. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = formsOf(secrets);
  return (text) =>
    forms.reduce((clean, form) => (clean.includes(form) ? clean.replaceAll(form, () => INSTEAD) : clean), text);
}

/** Longest first: one that is within another would leave the other's ends behind. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const values = secrets.flatMap((secret) => [secret, ...linesOf(secret)]).filter((value) => value.length >= SHORTEST);
  // Twice escaped: a line of a log is JSON, and so is much of what an agent prints.
  const forms = values.flatMap((value) => [value, escaped(value), escaped(escaped(value))]);
  return [...new Set(forms)].toSorted((one, other) => other.length - one.length);
}

/** A log is cut into lines, and a private key has many. */
function linesOf(secret: string): readonly string[] {
  return secret.includes('\n') ? secret.split('\n').map((line) => line.trim()) : [];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
