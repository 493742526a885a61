/* oxlint-disable no-control-regex -- control characters are what this is about */
/** A sequence that a terminal obeys, up to its end; the colours among them do no harm. */
const SEQUENCE =
  /\u001B(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001B]*(?:\u0007|\u001B\\)?|[PX^_][^\u001B]*(?:\u001B\\)?|.)?/gs;
const COLOR = /^\u001B\[[0-9;:]*m$/;
/** Line ends and tabs may stay. Marks that turn the direction of writing make a text look like another one. */
const CONTROL = /[^\P{Cc}\n\t\u001B]|[\u2028\u2029\u202A-\u202E\u2066-\u2069]/gu;

/** A stranger's text, as a terminal may show it: it moves no cursor, sets no title and writes over nothing. */
export function printable(text: string): string {
  return text.replaceAll(SEQUENCE, '').replaceAll(CONTROL, '');
}

/** The same; what is coloured stays so, and the colour ends with the text. */
export function printableInColor(text: string): string {
  let colored = false;
  const kept = text.replaceAll(SEQUENCE, (sequence) => {
    if (!COLOR.test(sequence)) return '';
    colored = true;
    return sequence;
  });
  return kept.replaceAll(CONTROL, '') + (colored ? '\u001B[0m' : '');
}
