import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { endWithAnswer } from '../../lib/index.ts';
import { reasonText, whatText } from '../target/index.ts';
import type { Refused } from '../target/index.ts';
import { printable } from './denial.ts';
import type { Answer } from './denial.ts';

/** How long a refused client may take to read why. */
const LINGER_MS = 5000;

/** What was refused, why, and what to do, in one line. */
function sentence({ refused, advice }: Answer): string {
  return `${summary(refused)}. ${advice}\n`;
}

/** What was refused, and why. */
const summary = (refused: Refused): string => `Mahabharatha ${whatText(refused)}: ${reasonText(refused)}`;

/** Nothing in it ends the line, or is not ASCII. */
const inOneLine = (text: string): string => printable(text).replaceAll('…', '...');

/** The answer to a request that is refused. It closes the connection, so each refusal costs the client a new one. */
export function answerRequest(response: ServerResponse, answer: Answer): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  const text = sentence(answer);
  response.writeHead(answer.status, {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': Buffer.byteLength(text),
    Connection: 'close',
  });
  response.write(text);
  endWhenRead(response);
}

/** Bytes that are unread at the close would reset the connection before the client has read the answer. */
function endWhenRead(response: ServerResponse): void {
  const { req: request } = response;
  const end = (): void => {
    clearTimeout(timer);
    response.end();
  };
  const timer = setTimeout(end, LINGER_MS);
  if (request.complete) return end();
  request.unpipe();
  request.once('end', end).once('close', end).resume();
}

/**
 * The answer to a CONNECT. It closes the connection. It is never 403, which agents take for the model's answer to their
 * credentials. The reason stands in the first line too: most programs show only that line of a refused tunnel.
 */
export function answerConnect(client: Socket, answer: Answer): void {
  const text = sentence(answer);
  const head = [
    `HTTP/1.1 ${answer.status === 403 ? 502 : answer.status} ${inOneLine(summary(answer.refused))}`,
    'Content-Type: text/plain; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ];
  endWithAnswer(client, `${head.join('\r\n')}\r\n\r\n${text}`);
}
