import ts from 'typescript';

const BEGINS = new Set(['it', 'test', 'describe']);
/** What is named so does not run. */
const LEFT_OUT = new Set(['skip', 'todo', 'fails']);

/**
 * The names of the tests in a file, and of groups of them: as they are written, and those of a table with their rows. What is
 * skipped without a condition is left out, with all that is in it.
 */
export function testNames(text: string): Set<string> {
  const names = new Set<string>();
  const look = (node: ts.Node): void => {
    const found = ts.isCallExpression(node) ? testOf(node) : undefined;
    if (found?.isLeftOut === true) return;
    for (const name of found?.names ?? []) names.add(name);
    ts.forEachChild(node, look);
  };
  look(ts.createSourceFile('some.test.ts', text, ts.ScriptTarget.Latest));
  return names;
}

/** Undefined when it is no test: it(…), it.each(…)(…), describe.skipIf(…)(…) … */
function testOf({ expression, arguments: [first] }: ts.CallExpression) {
  const title = first && textOf(first);
  let begin: ts.Expression = expression;
  let rows: readonly ts.Expression[] = [];
  let isLeftOut = false;
  while (!ts.isIdentifier(begin)) {
    if (ts.isCallExpression(begin)) {
      const [table] = begin.arguments;
      rows = (table && elementsOf(table)) ?? rows;
      begin = begin.expression;
    } else if (ts.isPropertyAccessExpression(begin)) {
      isLeftOut ||= LEFT_OUT.has(begin.name.text);
      begin = begin.expression;
    } else return undefined;
  }
  if (!BEGINS.has(begin.text) || title === undefined) return undefined;
  return { isLeftOut, names: [title, ...rows.map((row) => filled(title, row))] };
}

/** The title with what the row has in the place of each "%s", as far as that is written there. */
function filled(title: string, row: ts.Expression): string {
  const values = [...(elementsOf(row) ?? [row])];
  return title.replaceAll(/%[sj]/g, (sign) => {
    const value = values.shift();
    return (value && sign === '%s' ? textOf(value) : undefined) ?? sign;
  });
}

function elementsOf(node: ts.Expression): readonly ts.Expression[] | undefined {
  const inner = ts.isAsExpression(node) ? node.expression : node;
  return ts.isArrayLiteralExpression(inner) ? inner.elements : undefined;
}

/** Of a template: as it is written. */
function textOf(node: ts.Expression): string | undefined {
  if (ts.isStringLiteralLike(node)) return node.text;
  if (!ts.isTemplateExpression(node)) return undefined;
  const spans = node.templateSpans.map(({ literal }) => `\${…}${literal.text}`);
  return [node.head.text, ...spans].join('');
}
