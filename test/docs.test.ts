import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Documents that name many files: their paths must not be out of date. */
const DOCUMENTS = ['docs/dependencies.md', 'docs/out-of-scope.md', 'docs/walk.md'];
const PATH = /`((?:bench|bin|docker|docs|schemas|scripts|src|test)\/[\w./-]*)`/g;
const LINK = /\]\((?!https?:|#)([^)#]+)/g;

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const missing = (paths: readonly string[]): string[] => paths.filter((found) => !existsSync(path.join(ROOT, found)));

const pathsIn = (text: string): string[] => [...text.matchAll(PATH)].map(([, found = '']) => found);

function linksIn(document: string): string[] {
  return [...read(document).matchAll(LINK)].map(([, target = '']) => path.join(path.dirname(document), target));
}

/** The folders with which lines of the map begin. */
function foldersOfMap(): string[] {
  const map = /## Map\n```\n([\s\S]*?)```/.exec(read('AGENTS.md'))?.[1] ?? '';
  return [...map.matchAll(/^([\w.][\w./-]*\/)/gm)].map(([, found = '']) => found);
}

describe('documents', () => {
  it.each(DOCUMENTS)('%s names only paths that exist', (document) => {
    const found = [...pathsIn(read(document)), ...linksIn(document)];
    expect(found).not.toEqual([]);
    expect(missing(found)).toEqual([]);
  });

  it('the map in AGENTS.md has every folder of src, and only folders that exist', () => {
    const folders = foldersOfMap();
    expect(missing(folders)).toEqual([]);
    const rooms = readdirSync(path.join(ROOT, 'src')).map((room) => `src/${room}/`);
    expect(rooms.filter((room) => !folders.includes(room))).toEqual([]);
  });
});
