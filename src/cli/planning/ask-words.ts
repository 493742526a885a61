import { isUtf8 } from 'node:buffer';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { libErrors, line, readIfThere, reasonOf } from '../../lib/index.ts';
import type { Words } from '../../planning/index.ts';
import { planningErrors } from '../../planning/errors.ts';
import type { CliContext, InputOf } from '../command.ts';
import type { plan } from '../commands/plan.ts';

type Input = Pick<InputOf<typeof plan>, 'description' | 'from'>;

/** What the person says: on the command line, in a file, or when asked. Throws PLAN_WITHOUT_WORDS. */
export async function askWords(input: Input, feature: string, context: CliContext): Promise<Words> {
  const { description, from } = input;
  if (description !== undefined && from !== undefined)
    throw libErrors.USAGE({ problem: '--description and --from do not go together.', hint: 'Name one of them.' });
  const said = from === undefined ? description : await readWords(from, context);
  if (said === undefined && context.terminal) return interview(feature, context);
  if (said === undefined || said.trim() === '') throw planningErrors.PLAN_WITHOUT_WORDS({ feature });
  return { problem: said };
}

async function readWords(from: string, { cwd, streams }: CliContext): Promise<string> {
  if (from === '-') return text(streams.stdin);
  const file = path.resolve(cwd, from);
  const bytes = await readIfThere(file).catch((error: unknown) => {
    throw libErrors.FILE_UNREADABLE({ file, reason: reasonOf(error) }, { cause: error });
  });
  const problem = bytes === undefined ? `There is no file ${file}.` : `${file} is not text in UTF-8.`;
  if (bytes === undefined || bytes.includes(0) || !isUtf8(bytes))
    throw libErrors.USAGE({ problem, hint: 'Name a file with your words, or say them with --description "…".' });
  return bytes.toString('utf8');
}

async function interview(feature: string, { ask, out }: CliContext): Promise<Words> {
  out(line`A few questions about "${feature}". An empty line leaves one open.\n\n`);
  const problem = await ask(line`What is wrong today, or what is missing?`);
  const users = await ask(line`Who uses it, and for what?`);
  const musts = await several(ask, 'What must it do?');
  const shoulds = musts.length === 0 ? [] : await several(ask, 'What should it do, if there is time?');
  const criteria = await several(ask, 'What must be seen when it is done?');
  const outOfScope = await several(ask, 'What is not built?');
  const words = { problem, users, musts, shoulds, criteria, outOfScope };
  if (Object.values(words).every((answer) => answer.length === 0)) throw planningErrors.PLAN_WITHOUT_WORDS({ feature });
  return words;
}

async function several(ask: CliContext['ask'], question: string): Promise<string[]> {
  const answers: string[] = [];
  for (;;) {
    const answer = await ask(answers.length === 0 ? line`${question} (one a line)` : line`  and?`);
    if (answer === '') return answers;
    answers.push(answer);
  }
}
