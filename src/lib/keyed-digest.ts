import { createHmac } from 'node:crypto';

/** HMAC-SHA256 in hexadecimal digits: it cannot be computed without the key. */
export function keyedDigest(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
