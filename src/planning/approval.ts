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
  const { front, body } = parseDocument(text);
  const own = {
    status: 'APPROVED',
    approved_by: JSON.stringify(by),
    approved_at: at.toISOString(),
    approved_content: contentOf(body),
  };
  return withFront({ ...front, ...own }, body);
}

/** Pure. The same document, as a draft. */
export function asDraft(text: string): string {
  const { front, body } = parseDocument(text);
  const kept = Object.entries(front).filter(([key]) => !key.startsWith('approved_'));
  return withFront({ ...Object.fromEntries(kept), status: 'DRAFT' }, body);
}

export function withFront(front: Readonly<Record<string, string>>, body: string): string {
  const lines = Object.entries(front).map(([key, value]) => `${key}: ${value}`);
  return ['---', ...lines, '---', '', body].join('\n');
}

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
  return withFront(parseDocument(text).front, parseDocument(other).body);
}
