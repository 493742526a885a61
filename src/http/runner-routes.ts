import type { z } from 'zod';
import { inSeconds } from '../lib/index.ts';
import * as bodies from './bodies.ts';
import type { Ran, Runners } from '../sandbox/index.ts';
import { goneSignal } from './gone.ts';
import { exitCode, megabytes } from './program-end.ts';
import { route } from './route.ts';
import type { Route } from './route.ts';

const BODY_BYTES = 100 * 1024;
const CUT = '\n[Output truncated at 10KB limit]';

/** Programs of a language, in its warm container. */
export function runnerRoutes(runners: Runners, timeoutMs: number): readonly Route[] {
  return [
    route({
      method: 'POST',
      path: '/execute/:language',
      summary: 'Run a program',
      body: bodies.program,
      bodyBytes: BODY_BYTES,
      answer: bodies.ran,
      refusals: { 404: 'LANGUAGE_UNKNOWN', 413: 'the body is longer than 100 KB', 429: 'RUNNER_BUSY' },
      onFault: { stdout: '', stderr: '', exit_code: -1 },
      handle: async ({ params, body, reply }) => {
        const language = params['language'] ?? '';
        return answerOf(
          language,
          await runners.run(language, { program: body.code, gone: goneSignal(reply) }),
          timeoutMs,
        );
      },
    }),
  ];
}

function answerOf(language: string, ran: Ran, timeoutMs: number): z.infer<typeof bodies.ran> {
  const [stdout, stderr] = [ran.stdout, ran.stderr].map(({ text, isCut }) => (isCut ? text + CUT : text));
  const late = ran.endedBy === 'timeout' ? `Execution timed out after ${inSeconds(timeoutMs)}\n` : '';
  const full = late === '' && ran.outOfMemory && ran.signal === 'SIGKILL' ? 'Execution ran out of memory\n' : '';
  const problem = ran.problem === null ? '' : `${ran.problem}\n`;
  return {
    stdout: stdout ?? '',
    stderr: `${stderr}${stderr === '' || stderr?.endsWith('\n') || late + full === '' ? '' : '\n'}${late}${full}${problem}`,
    exit_code: exitCode(ran),
    execution_time_ms: Math.round(ran.durationMs * 10) / 10,
    container_id: ran.containerId.slice(0, 12),
    language,
    image_name: ran.image,
    memory_used_mb: megabytes(ran.peakBytes),
    cpu_percent: ran.durationMs === 0 ? 0 : Math.round((ran.cpuMs / ran.durationMs) * 1000) / 10,
    file_path: ran.file,
  };
}
