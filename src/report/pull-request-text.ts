import { FEATURE_TRAILER, TIP_TRAILER } from '../protocol/index.ts';
import { short } from './facts.ts';
import { asText, gatesSection, tasksTable } from './markdown.ts';
import type { RunReport } from './run-report.ts';

/** What a feature has to do, of its requirements. */
interface Wanted {
  readonly id: string;
  readonly text: string;
  readonly priority: string;
}

/** Pure. The last lines let a commit that GitHub squashes from it be known as this work. */
export function formatPullRequest(report: RunReport, wanted: readonly Wanted[]): { title: string; body: string } {
  const { feature, tasks, levels, runId, base, integrationTip } = report;
  const merged = tasks.filter((task) => task.merged);
  const rest = tasks.filter((task) => !task.merged);
  const parts = [
    ...(wanted.length === 0
      ? []
      : [
          `## Requirements\n\n${wanted.map(({ id, text, priority }) => `- **${asText(id)}** (${asText(priority)}): ${asText(text)}`).join('\n')}`,
        ]),
    `## Tasks\n\n${tasksTable(merged)}`,
    ...(rest.length === 0
      ? []
      : [`Not in it: ${rest.map(({ id, status }) => `${asText(id)} (${status})`).join(', ')}`]),
    ...gatesSection(levels),
    `Built by Mahabharatha, run ${runId}, from ${short(base)}.\n\n${FEATURE_TRAILER}: ${feature}\n${TIP_TRAILER}: ${integrationTip}`,
  ];
  return { title: `Add feature ${feature}`, body: `${parts.join('\n\n')}\n` };
}
