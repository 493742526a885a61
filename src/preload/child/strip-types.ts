import { transformSync } from '@swc/wasm-typescript';

/** TypeScript as JavaScript. Lines and columns stay, unless there is more to do than to leave types out. */
export function stripTypes(code: string): string {
  try {
    return transformSync(code, { mode: 'strip-only' }).code;
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'UnsupportedSyntax') throw asSyntaxError(error);
  }
  try {
    return transformSync(code, { mode: 'transform' }).code;
  } catch (error) {
    throw asSyntaxError(error);
  }
}

function asSyntaxError(error: unknown): Error {
  const { message, snippet, startLine } = error as Readonly<Record<string, unknown>>;
  const found = new SyntaxError(`${String(message)} (line ${String(startLine)})`);
  found.stack = `file:///code/main.ts:${String(startLine)}\n${String(snippet)}\nSyntaxError: ${String(message)}`;
  return found;
}
