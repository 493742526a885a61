import { clip, firstLine, line, printable, printableJson, printableLines } from '../../lib/index.ts';
import type { Printable } from '../../lib/index.ts';
import { listFeatures, openProject } from '../../project/index.ts';
import type { FeatureRow, FeatureStanding } from '../../project/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { list } from '../commands/list.ts';
import { colorsFor } from '../render/colors.ts';
import type { Colors } from '../render/colors.ts';

const LONGEST_CAUSE = 100;

/** `list`: one line for each feature. */
export async function showFeatures({ json }: InputOf<typeof list>, context: CliContext): Promise<number> {
  const features = await listFeatures(await openProject(context));
  if (json) context.out(line`${printableJson({ type: 'list', features })}\n`);
  else if (features.length > 0) context.out(formatFeatures(features, colorsFor(context.color)));
  else context.out(line`There is no feature yet. Begin with: mahabharatha plan NAME, or mahabharatha init\n`);
  return 0;
}

/** Pure. */
export function formatFeatures(features: readonly FeatureRow[], colors: Colors): Printable {
  const rows = features.map((row) => ({ ...row, done: doneOf(row) }));
  const width = (of: (row: (typeof rows)[number]) => string): number => Math.max(...rows.map((row) => of(row).length));
  const [names, standings, dones] = [
    width((row) => row.feature),
    width((row) => row.standing),
    width((row) => row.done),
  ];
  return printableLines(
    rows.flatMap(({ feature, standing, done, cause, startedAt, needsRetry }) => {
      const shown = paintOf(standing, colors)(standing.padEnd(standings));
      const isOver = standing === 'merged' && startedAt === null;
      const next = isOver ? '' : needsRetry ? RETRY(feature) : NEXT[standing](feature);
      const row = line`${feature.padEnd(names)}  ${shown}  ${done.padEnd(dones)}  ${colors.dim(next)}`;
      return cause === null ? [row] : [row, colors.dim(`  ${clip(firstLine(cause), LONGEST_CAUSE)}`)];
    }),
  );
}

const doneOf = ({ tasks }: FeatureRow): string => (tasks === null ? '' : `${tasks.done}/${tasks.total} tasks`);

const RETRY = (feature: string): string => `mahabharatha retry --feature ${feature}`;

const NEXT: { readonly [Standing in FeatureStanding]: (feature: string) => string } = {
  empty: (feature) => `mahabharatha plan ${feature}`,
  planned: (feature) => `mahabharatha approve ${feature}`,
  approved: (feature) => `mahabharatha design ${feature}`,
  designed: (feature) => `mahabharatha kurukshetra --feature ${feature}`,
  running: (feature) => `mahabharatha status --feature ${feature}`,
  paused: (feature) => `mahabharatha kurukshetra --feature ${feature} --resume`,
  stopped: (feature) => `mahabharatha kurukshetra --feature ${feature} --resume`,
  failed: (feature) => `mahabharatha kurukshetra --feature ${feature} --resume`,
  complete: (feature) => `mahabharatha merge --feature ${feature}`,
  merged: (feature) => `mahabharatha cleanup --feature ${feature}`,
  left: (feature) => `mahabharatha cleanup --feature ${feature} --dry-run`,
  unreadable: () => '',
};

function paintOf(standing: FeatureStanding, colors: Colors): (text: string) => Printable {
  if (standing === 'failed' || standing === 'unreadable' || standing === 'left') return colors.red;
  if (standing === 'complete' || standing === 'merged') return colors.green;
  return standing === 'running' ? colors.bold : printable;
}
