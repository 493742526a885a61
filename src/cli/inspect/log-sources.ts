import path from 'node:path';
import { refusalText } from '../../egress/target/index.ts';
import { line as words, printableBlock, printableJson, printableOutput } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { EGRESS_LOG, HOOK_LOG, HOOK_RUNNER, readLogLine, readRefusal, SNAPSHOT_MAKER } from '../../protocol/index.ts';
import type { LogLine } from '../../protocol/index.ts';
import type { RecordedEvent, StateStore } from '../../state/index.ts';
import { colorsFor } from '../render/colors.ts';
import type { Colors } from '../render/colors.ts';
import { describe, MARGIN } from '../render/describe.ts';

/** A line of a log file, as text to show and as text for programs. */
export interface Entry {
  readonly at: string;
  readonly task: string | undefined;
  /** Undefined for what is about the whole run. */
  readonly worker: number | undefined;
  readonly json: Printable;
  readonly text: Printable;
}

export interface Source {
  readonly file: string;
  parse(line: string): Entry;
}

export function workerSource(store: StateStore, worker: number, color: boolean): Source {
  return {
    file: store.paths.worker(worker).log,
    parse: (json) => {
      const line = readLogLine(json);
      // A worker that starts or crashes prints lines that are not JSON.
      if (line === undefined) return unreadable(json, { worker });
      // Whose log it is, is known by its file; a task may have forged the line.
      return entryOf({ ...line, worker }, printableOutput(line.text, color), colorsFor(color));
    },
  };
}

/** Requests of workers that the egress proxy refused or could not pass on. */
export function egressSource(store: StateStore, color: boolean): Source {
  const colors = colorsFor(color);
  return {
    file: path.join(store.paths.logs, EGRESS_LOG),
    parse: (json) => {
      const refusal = readRefusal(json);
      const line = refusal === undefined ? readLogLine(json) : { ...refusal, text: refusalText(refusal) };
      if (line === undefined) return unreadable(json, { source: 'egress' });
      // In yellow, because a refusal may be the cause of later failures. A task has chosen the names in it.
      return entryOf(line, colors.yellow(printableOutput(line.text)), colors);
    },
  };
}

export function hookSource(store: StateStore, color: boolean): Source {
  const file = path.join(store.paths.logs, HOOK_LOG);
  return {
    file,
    parse: (json) => {
      const line = readLogLine(json);
      if (line === undefined) return unreadable(json, { source: 'hook' });
      return { ...entryOf(line, printableOutput(line.text, color), colorsFor(color)), worker: undefined };
    },
  };
}

const NAMES: Readonly<Record<number, string>> = { [SNAPSHOT_MAKER]: 'snapshot', [HOOK_RUNNER]: 'run' };

function entryOf(line: LogLine, shown: Printable, colors: Colors): Entry {
  const { at, worker, task, source } = line;
  const name = NAMES[worker] ?? String(worker);
  const who = `${at.slice(11, 19)} ${name}${task === undefined ? '' : ` ${task}`} ${source.padEnd(6)}`;
  return { at, task, worker, json: printableJson(line), text: words`${colors.dim(who)} ${shown}` };
}

function unreadable(text: string, from: { worker: number } | { source: string }): Entry {
  const worker = 'worker' in from ? from.worker : undefined;
  const who = 'worker' in from ? from.worker : from.source;
  const shown = words`         ${who}  ${printableOutput(text)}`;
  return { at: '', task: undefined, worker, json: printableJson({ ...from, text }), text: shown };
}

interface EventWishes {
  readonly color: boolean;
  /** With the end of what gates printed that have sent a task back. */
  readonly gateOutput: boolean;
}

export function eventSource(store: StateStore, { color, gateOutput }: EventWishes): Source {
  const { dim } = colorsFor(color);
  return {
    file: store.paths.events,
    parse: (json) => {
      const event = readEvent(json);
      if (event === undefined) return unreadable(json, { source: 'run' });
      const output = gateOutput ? gateOutputOf(event) : words``;
      return {
        at: event.at,
        task: 'task' in event ? event.task : undefined,
        worker: undefined,
        json: printableJson(event),
        text: words`${dim(`${event.at.slice(11, 19)} run`)} ${describe(event).text}${output}`,
      };
    },
  };
}

/** Gates run on the work of several tasks, so their log lines name none; the event of the culprit has the last of them. */
function gateOutputOf(event: RecordedEvent): Printable {
  if (event.type !== 'attempt-failed' || event.outcome !== 'gate-failed') return words``;
  return words`\n${MARGIN}${printableBlock((event.feedback ?? '').trimEnd(), MARGIN)}`;
}

/** The file is ours, so its events need no schema; undefined for a line that a crash has left half written. */
export function readEvent(text: string): RecordedEvent | undefined {
  const value = parseJson(text);
  return isEvent(value) ? value : undefined;
}

function isEvent(value: unknown): value is RecordedEvent {
  return (
    typeof value === 'object' && value !== null && 'type' in value && 'at' in value && typeof value.at === 'string'
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
