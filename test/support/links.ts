import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';

const LINK = /\]\(([^)\s]+)\)/g;
/** Blocks and spans of code have no links. */
const CODE = /^ *```[\s\S]*?^ *```|`[^`\n]*`/gm;

/** The documents of a folder and of what is below it, as paths from `root`. */
export function documentsIn(root: string, folder: string): string[] {
  const names = readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).map((name) => path.join(folder, name));
}

/** Links of documents that lead nowhere, with the document of each. Links to other machines are left out. */
export function brokenLinks(root: string, documents: readonly string[]): string[] {
  return documents.flatMap((document) =>
    linksIn(root, document)
      .filter((link) => !leadsSomewhere(root, document, link))
      .map((link) => `${document}: ${link}`),
  );
}

export function linksIn(root: string, document: string): string[] {
  const text = readFileSync(path.join(root, document), 'utf8').replaceAll(CODE, '');
  return [...text.matchAll(LINK)].map(([, link = '']) => link).filter((link) => !/^[a-z]+:/.test(link));
}

function leadsSomewhere(root: string, document: string, link: string): boolean {
  const [file = '', heading] = link.split('#');
  const target = file === '' ? document : path.join(path.dirname(document), file);
  // A link to what is beside the root leads to nothing that is published.
  if (target.startsWith('..') || !existsSync(path.join(root, target))) return false;
  return heading === undefined || headingsIn(path.join(root, target)).includes(heading);
}

/** As they are named in addresses. */
function headingsIn(file: string): string[] {
  const headings = readFileSync(file, 'utf8').matchAll(/^#+ (.+)$/gm);
  return [...headings].map(([, words = '']) =>
    words
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replaceAll(' ', '-'),
  );
}
