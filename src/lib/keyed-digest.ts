import { createHmac } from 'node:crypto';

/** What cannot be said of a text without the key: HMAC-SHA256 in hexadecimal digits. */
export function keyedDigest(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
