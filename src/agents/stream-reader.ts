import { addUsage, NO_USAGE } from '../protocol/index.ts';
import type { Usage } from '../protocol/index.ts';
import type { AgentEnd, AgentLimits, AgentReader, AgentVerdict } from './agent.ts';
import { exitWords, failure, limitVerdict, verified } from './ending.ts';
import { oneLine } from './log-words.ts';
import { resetIn, troubleIn } from './model-trouble.ts';
import type { Complaint } from './model-trouble.ts';
import { outputTail } from './output-tail.ts';

/** What one event of an agent's stream says, in our words. */
export interface StreamNews {
  /** Lines for the log. */
  readonly shown?: readonly string[];
  /** What was used since the last event that said so. */
  readonly used?: Usage;
  /** What the provider, or the agent itself, complains of. Null: the model has answered since. */
  readonly complaint?: Complaint | null;
  /** Why a request is sent again, in the same words for each try. Null: the model has answered since. */
  readonly trouble?: string | null;
  /** The agent has given its result: the detail of a success, or "failed". */
  readonly result?: { readonly done: string } | 'failed';
}

interface Seen extends Required<Pick<StreamNews, 'complaint' | 'trouble'>> {
  readonly usage: Usage | null;
  readonly result: StreamNews['result'] | null;
  /** The last line that was not an event. */
  readonly plainText: string;
  /** The last of these lines since the model has answered that complains of an account or of the provider. */
  readonly plainComplaint: Complaint | null;
}

const NOTHING: Seen = {
  usage: null,
  complaint: null,
  trouble: null,
  result: null,
  plainText: '',
  plainComplaint: null,
};

/** What a line says. Null: nothing; a text: it is no event. */
type Parse = (line: string) => StreamNews | string | null;

/** Reads the JSON lines of an agent, and what it prints beside them. */
export function readStream(limits: AgentLimits, parse: Parse, parseBeside: Parse = (line) => line): AgentReader {
  const shown = outputTail();
  let seen = NOTHING;
  const plain = (line: string): readonly string[] => {
    if (line.trim() === '') return [];
    const text = oneLine(line);
    seen = { ...seen, plainText: text, ...(troubleIn({ text }) === null ? {} : { plainComplaint: { text } }) };
    return shown.add([line]);
  };
  const reads = (how: Parse) => (line: string) => {
    const news = how(line);
    if (news === null) return [];
    if (typeof news === 'string') return plain(news);
    seen = withNews(seen, news);
    return shown.add(news.shown ?? []);
  };
  return {
    stdout: reads(parse),
    stderr: reads(parseBeside),
    report: () => ({ usage: seen.usage, finished: seen.result !== null, trouble: seen.trouble }),
    verdict: (end) => judge(seen, end, limits, shown.text()),
  };
}

function withNews(seen: Seen, { used, complaint, trouble, result }: StreamNews): Seen {
  return {
    ...seen,
    ...(used === undefined ? {} : { usage: addUsage(seen.usage ?? NO_USAGE, used) }),
    ...(complaint === undefined ? {} : { complaint }),
    // Whatever was said before, the model has answered.
    ...(complaint === null ? { plainComplaint: null } : {}),
    ...(trouble === undefined ? {} : { trouble }),
    ...(result === undefined ? {} : { result }),
  };
}

function judge(seen: Seen, end: AgentEnd, limits: AgentLimits, output: string): AgentVerdict {
  const { result } = seen;
  // An agent that hangs after its result is ended by a limit of ours, which is no failure.
  if (typeof result === 'object' && result !== null && (end.code === 0 || end.endedBy !== 'itself')) {
    return verified(result.done);
  }
  return (
    troubleVerdict(seen) ??
    limitVerdict(end, limits, output) ??
    failure('agent-failed', failureWords(seen, end), output)
  );
}

/** Without a result, what the agent has printed beside its events says why. */
function troubleVerdict({ complaint, result, plainComplaint }: Seen): AgentVerdict | null {
  const said = complaint ?? (result === null ? plainComplaint : null);
  const trouble = said === null ? null : troubleIn(said);
  if (said === null || trouble === null) return null;
  return {
    outcome: trouble,
    detail: said.text,
    feedback: '',
    resetAt: trouble === 'usage-limit' ? resetIn(said.text) : null,
  };
}

function failureWords({ result, complaint, plainText }: Seen, end: AgentEnd): string {
  if (complaint !== null) return complaint.text;
  if (typeof result === 'object' && result !== null) return `a result that says success, but ${exitWords(end.code)}`;
  const how = result === null ? 'no result' : 'a result that says failure';
  return `${how}, ${exitWords(end.code)}${plainText === '' ? '' : `: ${plainText}`}`;
}
