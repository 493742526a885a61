import type { z } from 'zod';
import type { Job, Ran, Runners } from '../sandbox/index.ts';
import { httpErrors } from './errors.ts';
import { goneSignal } from './gone.ts';
import { nameOf, pistonAnswer, pistonRequest, pistonRuntimes } from './piston-bodies.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';

const BODY_BYTES = 100 * 1024;

type Request = z.infer<typeof pistonRequest>;

interface Limits {
  readonly timeoutMs: number;
  readonly memoryBytes: number;
}

/** The same programs as /execute, for clients of Piston. */
export function pistonRoutes(runners: Runners, limits: Limits): readonly Route[] {
  const runtimes = async () =>
    (await runners.versions()).map(({ name, version, extension }) => {
      const alias = extension.slice(1);
      return { language: name, version, aliases: alias === name ? [] : [alias] };
    });
  return [
    route({
      method: 'GET',
      path: '/api/v2/runtimes',
      summary: 'The languages and their versions, as Piston names them',
      answer: pistonRuntimes,
      hasMessage: true,
      handle: runtimes,
    }),
    route({
      method: 'POST',
      path: '/api/v2/execute',
      summary: 'Run a program of several files, as Piston does',
      body: pistonRequest,
      bodyBytes: BODY_BYTES,
      // npm's piston-client sends its JSON as text.
      takesText: true,
      answer: pistonAnswer,
      refusals: { 413: 'the body is longer than 100 KB', 429: 'RUNNER_BUSY' },
      hasMessage: true,
      handle: async ({ body, reply }) => {
        const gone = goneSignal(reply);
        const known = (await runtimes()).find(
          ({ language, aliases, version }) =>
            [language, ...aliases].includes(body.language) && isSelected(version, body.version),
        );
        if (known === undefined)
          throw httpErrors.PISTON_REFUSED({ reason: `${body.language}-${body.version} runtime is unknown` });
        const { language, version } = known;
        const wish = { program: jobOf(body, limits), gone };
        return { language, version, run: answerOf(await runners.run(language, wish)) };
      },
    }),
  ];
}

/** "3.11.2", "3", "3.x" and "*", also after "^", "~", "=" and ">=", which take what is there as long as it is not older. */
export function isSelected(version: string, selector: string): boolean {
  const [, sign = '', rest = ''] = /^\s*(\^|~|>=|=|v)?\s*(.*?)\s*$/.exec(selector) ?? [];
  const own = version.split('.').map(Number);
  const wanted = rest.split('.').map((part) => (/^(x|X|\*|)$/.test(part) ? null : Number(part)));
  if (wanted.some((part) => part !== null && !Number.isInteger(part))) return false;
  const differs = wanted.findIndex((part, at) => part !== null && part !== own[at]);
  if (differs === -1) return true;
  const isNewer = (own[differs] ?? 0) > (wanted[differs] ?? 0);
  if (sign === '>=') return isNewer;
  return isNewer && ((sign === '^' && differs > 0) || (sign === '~' && differs > 1));
}

/** Blanks in an encoding mean nothing; Node stops at them. */
function bytesOf({ content, encoding = 'utf8' }: Request['files'][number]): Buffer {
  return Buffer.from(encoding === 'utf8' ? content : content.replaceAll(/\s/g, ''), encoding);
}

function jobOf({ files, stdin, args = [], ...asked }: Request, limits: Limits): Job {
  const within = (name: 'run_timeout' | 'run_memory_limit', limit: number): number | null => {
    const value = asked[name] ?? -1;
    if (value > limit)
      throw httpErrors.PISTON_REFUSED({ reason: `${name} cannot exceed the configured limit of ${limit}` });
    // Clients of Piston write both for what they do not limit.
    return value <= 0 ? null : value;
  };
  const named = files.map((file, at) => ({
    name: nameOf(file, at),
    content: bytesOf(file).toString('base64'),
  }));
  return {
    files: named,
    args,
    stdin: stdin === undefined || stdin === '' ? null : Buffer.from(stdin).toString('base64'),
    timeoutMs: within('run_timeout', limits.timeoutMs),
    memoryBytes: within('run_memory_limit', limits.memoryBytes),
  };
}

function answerOf(ran: Ran): z.infer<typeof pistonAnswer>['run'] {
  const isLate = ran.endedBy === 'timeout';
  return {
    stdout: ran.stdout.text,
    stderr: ran.stderr.text,
    output: ran.output.text,
    code: isLate ? null : ran.code,
    signal: isLate ? 'SIGKILL' : ran.signal,
    ...verdictOf(ran),
    cpu_time: Math.round(ran.cpuMs),
    wall_time: Math.round(ran.durationMs),
    memory: Math.round(ran.peakBytes),
  };
}

function verdictOf(ran: Ran): Pick<z.infer<typeof pistonAnswer>['run'], 'message' | 'status'> {
  if (ran.endedBy === 'timeout') return { status: 'TO', message: 'Time limit exceeded (wall clock)' };
  if (ran.problem !== null) return { status: 'XX', message: ran.problem };
  if (ran.stdout.isCut) return { status: 'OL', message: 'stdout length exceeded' };
  if (ran.stderr.isCut) return { status: 'EL', message: 'stderr length exceeded' };
  if (ran.signal !== null) return { status: 'SG', message: `Caught fatal signal ${ran.signal}` };
  if (ran.code !== 0) return { status: 'RE', message: `Exited with error status ${ran.code}` };
  return { status: null, message: null };
}
