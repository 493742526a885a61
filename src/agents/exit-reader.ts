import type { AgentLimits, AgentReader } from './agent.ts';
import { exitWords, failure, limitVerdict, verified } from './ending.ts';
import { outputTail } from './output-tail.ts';

/** For programs that report nothing but their exit status: all their output goes to the log. */
export function readByExit(program: string, limits: AgentLimits): AgentReader {
  const tail = outputTail();
  const show = (line: string): readonly string[] => tail.add([line]);
  return {
    stdout: show,
    stderr: show,
    report: () => ({ usage: null, finished: false, trouble: null }),
    verdict(end) {
      const stopped = limitVerdict(end, limits, tail.text());
      if (stopped !== null) return stopped;
      const detail = `${program}: ${exitWords(end.code)}`;
      return end.code === 0 ? verified(detail) : failure('agent-failed', detail, tail.text());
    },
  };
}
