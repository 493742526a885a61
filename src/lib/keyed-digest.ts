import { createHmac } from 'node:crypto';

/** What only somebody with the key can say of a text: HMAC-SHA256 in hexadecimal digits. */
export function keyedDigest(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
