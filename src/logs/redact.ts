const REPLACEMENT = '[redacted]';

/** A shorter secret is easy to guess, and is part of too many words: a password "test" would remove that word from every log. */
const SHORTEST = 8;

export type Redactor = (text: string) => string;

/** Replaces secrets in a text, also as they are written within JSON. */
export function createRedactor(secrets: readonly string[]): Redactor {
  const forms = formsOf(secrets);
  return (text) =>
    forms.reduce((clean, form) => (clean.includes(form) ? clean.replaceAll(form, () => REPLACEMENT) : clean), text);
}

/** Longest first: a secret that is part of another would leave the rest of that one. */
function formsOf(secrets: readonly string[]): readonly string[] {
  const values = secrets.flatMap((secret) => [secret, ...linesOf(secret)]).filter((value) => value.length >= SHORTEST);
  // Escaped twice as well: a line of a log is JSON, and so is much of what an agent prints.
  const forms = values.flatMap((value) => [value, escaped(value), escaped(escaped(value))]);
  return [...new Set(forms)].toSorted((one, other) => other.length - one.length);
}

/** A private key has many lines, and a log is redacted line by line. */
function linesOf(secret: string): readonly string[] {
  return secret.includes('\n') ? secret.split('\n').map((line) => line.trim()) : [];
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}
