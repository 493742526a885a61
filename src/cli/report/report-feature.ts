import { realpath, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  diskReason,
  libErrors,
  line,
  printableBlock,
  printableJson,
  systemCode,
  undefinedIfMissing,
  writeFileAtomic,
} from '../../lib/index.ts';
import type { AppError } from '../../lib/index.ts';
import { openProject, reportRun } from '../../project/index.ts';
import { formatHtml, formatMarkdown } from '../../report/index.ts';
import type { RunReport } from '../../report/index.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { report } from '../commands/report.ts';
import { featureFor } from '../feature-for.ts';

type Input = InputOf<typeof report>;

const FORMATS: Readonly<Record<string, (report: RunReport) => string>> = {
  md: formatMarkdown,
  html: formatHtml,
  json: (report) => `${printableJson({ type: 'report', ...report }).toString()}\n`,
};

/** `report`: to stdout, or into a file. */
export async function reportFeature(input: Input, context: CliContext): Promise<number> {
  const format = formatOf(input);
  const project = await openProject(context);
  const feature = await featureFor(project, input.feature, 'see', context);
  const text = format(await reportRun(project, feature, context.env));
  if (input.out === undefined) {
    context.out(printableBlock(text, ''));
    return 0;
  }
  const file = path.resolve(context.cwd, input.out);
  await write(file, text).catch((error: unknown) => {
    throw unwritten(file, error);
  });
  if (input.json) context.out(line`${printableJson({ type: 'report', feature, file })}\n`);
  else context.out(line`Written: ${file}\n`);
  return 0;
}

/** A link stays one. A pipe or a device, say /dev/stdout, is written to: a file in its place would break it for all. */
async function write(file: string, text: string): Promise<void> {
  const target = (await realpath(file).catch(undefinedIfMissing)) ?? file;
  const there = await stat(target).catch(undefinedIfMissing);
  if (there === undefined || there.isFile()) return writeFileAtomic(target, text, { durable: false });
  await writeFile(target, text);
}

/** A wrong name is no trouble of the disk. */
function unwritten(file: string, error: unknown): AppError {
  const code = systemCode(error);
  const hint = 'Name a file in a folder that is there.';
  if (code === 'ENOENT') return libErrors.USAGE({ problem: `There is no folder ${path.dirname(file)}.`, hint });
  if (code === 'EISDIR') return libErrors.USAGE({ problem: `${file} is a folder.`, hint });
  return libErrors.FILE_UNWRITABLE({ file, reason: diskReason(error) }, { cause: error });
}

const EXTENSIONS: Readonly<Record<string, string>> = {
  '.md': 'md',
  '.markdown': 'md',
  '.html': 'html',
  '.htm': 'html',
  '.json': 'json',
};

/** The name of a file says its format, too. */
function formatOf({ format, json, out = '' }: Input): (report: RunReport) => string {
  const wanted = format ?? EXTENSIONS[path.extname(out).toLowerCase()] ?? (json ? 'json' : 'md');
  const found = Object.hasOwn(FORMATS, wanted) ? FORMATS[wanted] : undefined;
  if (found !== undefined) return found;
  throw libErrors.USAGE({ problem: `There is no format "${wanted}".`, hint: 'Use md, html or json.' });
}
