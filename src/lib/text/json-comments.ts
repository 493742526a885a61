/** Ends where the comment ends, in no other place: so no search goes back into it. */
const COMMENT = String.raw`\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/`;
/** A string, a comment, or a comma with only blanks and comments before the end of its list or object. */
const PARTS = new RegExp(String.raw`"(?:[^"\\\n]|\\.)*"|${COMMENT}|,(?=(?:\s|${COMMENT})*[\]}])`, 'g');

/**
 * JSON as people write it, with comments and trailing commas, as plain JSON. What goes is replaced by blanks, so that each
 * place in the text stays where it is.
 */
export function withoutComments(text: string): string {
  return text.replaceAll(PARTS, (part) => (part.startsWith('"') ? part : part.replaceAll(/[^\n]/g, ' ')));
}
