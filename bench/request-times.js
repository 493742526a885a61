import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { timed } from './measure.js';

/** The container has half a processor, which requests without a pause would use up. */
const PAUSE_MS = 15;

/** Starts a program again and again in the container itself, and prints how long each took. */
const BARE = `
const { spawn } = require('node:child_process');
const [count, program, ...args] = process.argv.slice(1);
(async () => {
  const times = [];
  for (let index = 0; index < Number(count); index++) {
    const started = performance.now();
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.resume();
    child.stderr.resume();
    await new Promise((resolve) => child.once('close', resolve));
    times.push(performance.now() - started);
    await new Promise((resolve) => setTimeout(resolve, ${PAUSE_MS}));
  }
  console.log(JSON.stringify(times));
})();
`;

/** How long each of `count` processes takes that are started one after the other in a container. */
export function bareTimes(inside, count, program) {
  const args = [...inside, '/opt/mahabharatha/node', '-e', BARE, String(count), ...program];
  return JSON.parse(execFileSync('docker', args, { encoding: 'utf8' }));
}

export async function many(count, work) {
  const times = [];
  for (let index = 0; index < count; index++) {
    times.push(await timed(work));
    await sleep(PAUSE_MS);
  }
  return times;
}

export function quantiles(times) {
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
  return { p50: at(0.5), p99: at(0.99), count: times.length };
}

export const inWords = ({ p50, p99, count }) => `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${count})`;
