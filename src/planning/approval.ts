import { digestOf } from '../lib/index.ts';
import { parseDocument } from './sections.ts';

/** How a document stands. "stale": it was changed after it was approved. */
export type Standing = 'draft' | 'approved' | 'stale';

export interface Approval {
  readonly standing: Standing;
  /** Who has approved it and when; null for a draft. */
  readonly by: string | null;
  readonly at: string | null;
}

export interface ApprovedBy {
  readonly by: string;
  readonly at: Date;
}

/** Pure. */
export function approvalOf(text: string): Approval {
  const { front, body } = parseDocument(text);
  if (front['status'] !== 'APPROVED') return { standing: 'draft', by: null, at: null };
  const standing = front['approved_content'] === contentOf(body) ? 'approved' : 'stale';
  return { standing, by: front['approved_by'] ?? null, at: front['approved_at'] ?? null };
}

/** Pure. The same document, approved. */
export function approved(text: string, { by, at }: ApprovedBy): string {
  const { frontLines, body } = parseDocument(text);
  const own = [
    `approved_by: ${JSON.stringify(by)}`,
    `approved_at: ${at.toISOString()}`,
    `approved_content: ${contentOf(body)}`,
  ];
  return withFront([...withStatus(frontLines, 'APPROVED'), ...own], body);
}

/** Pure. The same document, as a draft. */
export function asDraft(text: string): string {
  const { frontLines, body } = parseDocument(text);
  return withFront(withStatus(frontLines, 'DRAFT'), body);
}

const isStatus = (line: string): boolean => line.startsWith('status:');

/** Without an approval. All else is the person's, and stays as it is written. */
function withStatus(lines: readonly string[], status: string): string[] {
  const unsigned = lines.filter((line) => !line.startsWith('approved_'));
  const kept = unsigned.filter((line) => !isStatus(line));
  const place = unsigned.findIndex(isStatus);
  return kept.toSpliced(place === -1 ? kept.length : place, 0, `status: ${status}`);
}

export const withFront = (lines: readonly string[], body: string): string =>
  ['---', ...lines, '---', '', body].join('\n');

/** Of the words, and not of the ends of lines, which git may change. */
function contentOf(body: string): string {
  const lines = body.split('\n').map((line) => line.trimEnd());
  return digestOf(lines.join('\n').trim()).slice(0, 32);
}

/** Pure. Whether two documents say the same, whatever their approval. */
export function haveSameWords(one: string, other: string): boolean {
  return contentOf(parseDocument(one).body) === contentOf(parseDocument(other).body);
}

/** Pure. The front matter of one document with the words of another. */
export function withBodyOf(text: string, other: string): string {
  return withFront(parseDocument(text).frontLines, parseDocument(other).body);
}
