import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createAgent } from '../../src/agents/index.ts';
import type { AgentReader } from '../../src/agents/index.ts';
import type { OtherAgent } from './agent-clis.ts';

/** Of a recorded stream: what the log shows, and the report and the verdict at its end. */
export function readRecorded(
  kind: OtherAgent,
  name: string,
  code: number | null,
  endedBy: 'itself' | 'total' = 'itself',
) {
  const reader = newReader(kind);
  const beside = linesOf(kind, `${name}.stderr`).flatMap((line) => reader.stderr(line));
  const log = linesOf(kind, `${name}.jsonl`).flatMap((line) => reader.stdout(line));
  return { log: [...beside, ...log], ...reader.report(), verdict: reader.verdict({ code, endedBy }) };
}

export function newReader(kind: OtherAgent): AgentReader {
  const agent = createAgent({ kind, command: kind, model: null, args: [] }, {});
  return agent.read({ totalMs: 1_800_000, idleMs: 600_000 });
}

function linesOf(kind: OtherAgent, name: string): readonly string[] {
  const file = fileURLToPath(new URL(`../testdata/${kind}-streams/${name}`, import.meta.url));
  return existsSync(file) ? readFileSync(file, 'utf8').trimEnd().split('\n') : [];
}
