import { createHash, createHmac } from 'node:crypto';

/** SHA-256 in hexadecimal digits. */
export function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** HMAC-SHA256 in hexadecimal digits: it cannot be computed without the key. */
export function keyedDigest(key: string, text: string): string {
  return createHmac('sha256', key).update(text).digest('hex');
}
