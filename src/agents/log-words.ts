import { clip, inOneLine } from '../lib/index.ts';

export const SHORT = 120;

/** Fields of a tool's input that say what it is about; the first one that is set is shown. */
const TELLING = [
  'file_path',
  'filePath',
  'notebook_path',
  'command',
  'pattern',
  'url',
  'query',
  'skill',
  'description',
  'subject',
];

export const oneLine = (text: string, most = 500): string => clip(inOneLine(text), most);

/** What an agent says, line by line. */
export const spoken = (text: string): readonly string[] => text.split('\n').filter((line) => line.trim() !== '');

/** A tool, and what it is about. */
export function toolWords(name: string, input: Readonly<Record<string, unknown>>, cwd = ''): string {
  const subject = TELLING.map((key) => input[key]).find((value) => typeof value === 'string');
  if (subject === undefined) return name;
  const inside = cwd === '' ? subject : subject.replaceAll(`${cwd}/`, '');
  return `${name} ${oneLine(inside, SHORT)}`;
}
