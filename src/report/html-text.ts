import { withoutControls } from '../lib/text/printable.ts';

/** HTML that was built here. Any plain string is a text, and is escaped. */
export interface Html {
  readonly html: string;
}

const ESCAPED: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text from anywhere, for content and for quoted attributes. */
export function escapeHtml(text: string): string {
  return withoutControls(text).replaceAll(/[&<>"']/g, (char) => ESCAPED[char] ?? char);
}

/** Of our own words alone. */
export const raw = (html: string): Html => ({ html });

export function el(
  name: string,
  attributes: Readonly<Record<string, string>>,
  content: readonly (Html | string)[],
): Html {
  const given = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
  const inner = content.map((part) => (typeof part === 'string' ? escapeHtml(part) : part.html));
  return { html: `<${name}${given.join('')}>${inner.join('')}</${name}>` };
}
