// Writes what is made from the source: JSON Schemas, the references of commands and errors. With --check it only compares.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMMANDS } from '../dist/cli/program.js';
import { configJsonSchema, settingsJsonSchema } from '../dist/config/index.js';
import { runStateJsonSchema } from '../dist/state/index.js';
import { taskGraphJsonSchema } from '../dist/tasks/index.js';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

const DIST = path.join(ROOT, 'dist');

const FILES = {
  'schemas/config.schema.json': asJson(configJsonSchema()),
  'schemas/settings.schema.json': asJson(settingsJsonSchema()),
  'schemas/task-graph.schema.json': asJson(taskGraphJsonSchema()),
  'schemas/run-state.schema.json': asJson(runStateJsonSchema()),
  'docs/reference/commands.md': commandReference(),
  'docs/reference/errors.md': errorReference(await allErrors()),
};

function asJson(value) {
  return `${JSON.stringify(value, undefined, 2)}\n`;
}

function commandReference() {
  const head = '# Commands\n\nMade from the source by `npm run generate`; do not edit.\n';
  return [head, ...COMMANDS.map(({ definition }) => describeCommand(definition))].join('\n');
}

function describeCommand({ name, alias, argument, rest, summary, options, details = [], examples }) {
  const positional = [argument, rest].filter((one) => one !== undefined);
  const [first = [], ...more] = positional.map(([word]) => word);
  const usage = ['mahabharatha', name, ...[first].flat(), '[options]', ...more].join(' ');
  const rows = [...positional, ...Object.values(options)];
  return [
    `## ${name}\n`,
    `${summary[0].toUpperCase()}${summary.slice(1)}.${alias === undefined ? '' : ` Short: \`${alias}\`.`}\n`,
    `\`\`\`\n${usage}\n\`\`\`\n`,
    ...(rows.length === 0
      ? []
      : ['| option | meaning |', '|---|---|', ...rows.map(([flags, summary]) => `| \`${flags}\` | ${summary} |`), '']),
    ...details.map((text) => `${text.replaceAll('\n', ' ')}\n`),
    '```sh',
    ...examples.map(([command, meaning]) => `${command}   # ${meaning}`),
    '```\n',
  ].join('\n');
}

/** Every room's codes, from the errors.js of each. */
async function allErrors() {
  const files = (await readdir(DIST, { recursive: true })).filter((file) => path.basename(file) === 'errors.js');
  const modules = await Promise.all(files.map((file) => import(path.join(DIST, file))));
  const makers = modules.flatMap(Object.values).flatMap((codes) => Object.values(codes));
  const errors = makers.filter(({ code }) => code !== undefined).map((make) => make(make.example));
  return errors.toSorted((one, other) => (one.code < other.code ? -1 : 1));
}

function errorReference(errors) {
  const head = [
    '# Errors\n',
    'Made from the source by `npm run generate`; do not edit. The names and numbers in the messages are examples.\n',
    'With `--json` an error is one object on stdout: `type` ("error"), `code`, `message`, `hint`, `exit` and, of an error that may have several problems, `problems`, a list.\n',
  ];
  return [...head, ...errors.map(describeError)].join('\n');
}

function describeError({ code, exit, message, hint }) {
  return `## ${code}\n\nExit status ${exit}.\n\n\`\`\`\n${message.trimEnd()}\n\`\`\`\n\nWhat to do: ${hint}\n`;
}

async function check() {
  const stale = [];
  for (const [file, text] of Object.entries(FILES)) {
    const now = await readFile(path.join(ROOT, file), 'utf8').catch(() => '');
    if (now !== text) stale.push(file);
  }
  if (stale.length === 0) return;
  console.error(`Out of date: ${stale.join(', ')}. Run: npm run generate`);
  process.exitCode = 1;
}

async function write() {
  for (const [file, text] of Object.entries(FILES)) {
    await mkdir(path.dirname(path.join(ROOT, file)), { recursive: true });
    await writeFile(path.join(ROOT, file), text);
  }
}

await (process.argv.includes('--check') ? check() : write());
