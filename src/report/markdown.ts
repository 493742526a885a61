import { withoutControls } from '../lib/text/printable.ts';
import { clip, inOneLine } from '../lib/text/words.ts';
import { axisOf } from './axis.ts';
import { factsOf, isTroubled, standingOf, timeOfTask } from './facts.ts';
import type { ReportLevel, ReportTask, RunReport } from './run-report.ts';
import type { Lane, Span, Timeline } from './timeline.ts';

const COLUMNS = 72;
const LONGEST = 200;
const SIGN: Readonly<Record<Span['kind'], string>> = { work: '█', verification: '▓', gates: '▒', 'set-up': '░' };

/** Pure. The report as Markdown, which can be read as it stands, too. */
export function formatMarkdown(report: RunReport): string {
  const { feature, status, tasks, levels, warnings, timeline } = report;
  const troubled = tasks.filter(isTroubled);
  const parts = [
    `# Feature ${asText(feature)}: ${status}`,
    factsOf(report)
      .map(([name, text]) => `- **${name}:** ${asText(text)}`)
      .join('\n'),
    ...section(
      'What is not done',
      troubled.map(({ id, status, cause }) => `- ${asText(id)} is ${status}: ${asText(cause ?? 'no cause is known')}`),
    ),
    ...timelineSection(timeline),
    `## Tasks\n\n${tasksTable(tasks)}`,
    ...gatesSection(levels),
    ...section(
      'Warnings',
      warnings.map((warning) => `- ${asText(warning)}`),
    ),
  ];
  return `${parts.join('\n\n')}\n`;
}

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`## ${title}\n\n${lines.join('\n')}`];

/** Pure. Words of people and tasks as plain text of one line: no links, no HTML, no table of their own. */
export function asText(text: string): string {
  return (
    clip(inOneLine(withoutControls(text)), LONGEST)
      .replaceAll(/[\\`*_[\]<>|~]/g, String.raw`\$&`)
      .replaceAll('&', '&amp;')
      // So that no account gets a message, no issue is closed, and no address becomes a link.
      .replaceAll(/[@#]|\bGH-(?=\d)|:(?=\/\/)|\bwww(?=\.)/gi, '$&<!-- -->')
  );
}

export function tasksTable(tasks: readonly ReportTask[]): string {
  const rows = tasks.map((task) => {
    const { id, title, level, attemptCount } = task;
    return [asText(id), asText(title), level, standingOf(task), attemptCount, timeOfTask(task)].join(' | ');
  });
  const head = 'task | title | level | standing | attempts | time';
  return ['| ' + head + ' |', '|---|---|--:|---|--:|--:|', ...rows.map((row) => `| ${row} |`)].join('\n');
}

export function gatesSection(levels: readonly ReportLevel[]): string[] {
  const rows = levels.flatMap(({ level, gates }) =>
    gates.map(({ name, ok, required }) => {
      const result = ok ? 'green' : required ? 'red' : 'red, not required';
      return `| ${level} | ${asText(name)} | ${result} |`;
    }),
  );
  return section('Gates', rows.length === 0 ? [] : ['| level | gate | result |', '|--:|---|---|', ...rows]);
}

function timelineSection(timeline: Timeline): string[] {
  const { lanes } = timeline;
  if (lanes.length === 0) return [];
  const axis = axisOf(timeline);
  const width = Math.max(...lanes.map(({ name }) => name.length));
  const column = (at: number): number => Math.min(COLUMNS - 1, Math.floor(axis.position(at) * COLUMNS));
  const rows = lanes.map(({ name, spans }) => `${name.padEnd(width)} ${cellsOf(spans, column)}`);
  const legend = `${SIGN.work} work  ${SIGN.verification} verification  ${SIGN.gates} gates  ${SIGN['set-up']} set-up  ✗ failed`;
  return [`## Time line\n\n\`\`\`text\n${rows.join('\n')}\n\n${legend}\n\`\`\``];
}

function cellsOf(spans: Lane['spans'], column: (at: number) => number): string {
  const cells: string[] = Array.from({ length: COLUMNS }, () => '·');
  for (const { kind, from, to } of spans) cells.fill(SIGN[kind], column(from), column(to) + 1);
  // Last, so that no later span covers one.
  for (const { to, end } of spans) if (end === 'bad') cells[column(to)] = '✗';
  return cells.join('');
}
