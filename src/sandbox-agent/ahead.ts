import { kill } from '../lib/index.ts';
import type { ProgramAhead, StartWish } from '../protocol/index.ts';
import { hasEnded } from './as-user.ts';
import { goOn, launchAhead } from './launch.ts';
import type { Launch, Program } from './launch.ts';
import type { OutputPipes, PipePool } from './pipes.ts';

interface Waiting {
  /** What it may become. */
  readonly key: string;
  readonly program: Program;
  readonly pipes: OutputPipes;
  /** The program waits, and not a shell that becomes it. */
  readonly isItself: boolean;
  isTaken: boolean;
}

/** A process that has its program's output already, and becomes the program. */
export interface Taken {
  readonly pipes: OutputPipes;
  readonly launch: Launch;
}

/**
 * One process that waits for the next program, as that one's user: while programs come one after the other, none of them
 * waits for a process to be started.
 */
export function createAhead(pool: PipePool) {
  let waiting: Waiting | undefined;
  return {
    /** Undefined when nothing waits for this program. */
    take: (wish: StartWish): Taken | undefined => {
      const found = waiting;
      if (found === undefined || wish.stdin !== null || found.key !== keyOf(wish)) return undefined;
      const { program, pipes, isItself } = found;
      if (program.pid === undefined || hasEnded(program.pid)) return undefined;
      found.isTaken = true;
      waiting = undefined;
      const launch = (): Program => {
        goOn(program, wish, isItself);
        return program;
      };
      return { pipes, launch };
    },
    /** What waits for another program goes. */
    prepare: (wish: ProgramAhead): void => {
      const key = keyOf(wish);
      if (waiting?.key === key || !fitsOneLine(wish)) return;
      if (waiting?.program.pid !== undefined) kill(waiting.program.pid, 'SIGKILL');
      waiting = undefined;
      const pipes = pool.take();
      if (pipes === undefined) return;
      const program = launchAhead(wish, pipes);
      if (program === undefined) return pipes.release(true);
      program.reports?.on('error', () => undefined);
      const started = { key, program, pipes, isItself: wish.waiting !== null, isTaken: false };
      waiting = started;
      void program.ended.then(() => {
        if (waiting === started) waiting = undefined;
        if (!started.isTaken) pipes.release(true);
      });
    },
  };
}

/** What it waits for is one line. */
const fitsOneLine = ({ cwd, argv }: ProgramAhead): boolean => ![cwd, ...argv].some((word) => word.includes('\n'));

const keyOf = ({ argv, env, cwd, home, uid, isPrivate, dataBytes }: Omit<ProgramAhead, 'waiting'>): string =>
  JSON.stringify([argv, env, cwd, home, uid, isPrivate, dataBytes]);
