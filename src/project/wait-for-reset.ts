import { sleep, systemClock } from '../lib/index.ts';
import type { RunEnd } from '../orchestrator/index.ts';
import type { RunState } from '../state/index.ts';
import { mostMs } from './caps.ts';
import type { RunFace, RunHost } from './run-face.ts';
import type { RunRequest, RunWishes } from './run-request.ts';

/** The time is looked at again and again: the machine may have been suspended. */
const LOOK_MS = 30_000;

interface WaitFacts {
  /** Wall clock. */
  readonly now: number;
  /** At least: a limit that says it is over already would be met again at once. */
  readonly leastMs: number;
  /** How much longer this process may drive the run. */
  readonly leftMs: number;
}

/** Pure. When a paused run may go on by itself; undefined when that is not known, or too late. */
export function resetOf(
  { status, resumeAt }: Pick<RunState, 'status' | 'resumeAt'>,
  { now, leastMs, leftMs }: WaitFacts,
): number | undefined {
  if (status !== 'paused' || resumeAt === null) return undefined;
  const until = Math.max(Date.parse(resumeAt), now + leastMs);
  return until - now < leftMs ? until : undefined;
}

/** Resolves at that time by the wall clock, or when the signal fires. */
async function sleepUntil(time: number, signal: AbortSignal): Promise<void> {
  for (let left = time - systemClock.now(); left > 0 && !signal.aborted; left = time - systemClock.now())
    await sleep(Math.min(left, LOOK_MS), signal);
}

/** Carries a run out; where it is to wait, again at the end of each usage limit whose end is known. */
export async function throughResets(
  asked: RunRequest,
  { interrupted }: Pick<RunHost, 'interrupted'>,
  face: Pick<RunFace, 'waiting'>,
  carryOut: (wishes: RunWishes, spentMs: number) => Promise<RunEnd>,
): Promise<RunEnd> {
  const { wishes, config } = asked;
  const begun = systemClock.monotonic();
  const spentMs = (): number => systemClock.monotonic() - begun;
  let end = await carryOut(wishes, 0);
  while (wishes.wait === true) {
    const leftMs = (mostMs(asked) ?? Infinity) - spentMs();
    const until = resetOf(end.state, { now: systemClock.now(), leastMs: config.retry.backoff, leftMs });
    if (until === undefined) return end;
    face.waiting(new Date(until));
    await sleepUntil(until, interrupted);
    // It is paused, and stays so.
    if (interrupted.aborted) return { ...end, exit: Number(interrupted.reason) };
    end = await carryOut({ ...wishes, resume: true }, spentMs());
  }
  return end;
}
