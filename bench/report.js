import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, type } from 'node:os';

/** Beyond this share above an aim, `--strict` fails. */
const TOLERANCE = 0.15;

/** What a reader needs to compare; nothing that tells whose machine it was. */
export function describeMachine() {
  const cores = cpus();
  return {
    date: new Date().toISOString().slice(0, 10),
    node: process.version,
    git: execFileSync('git', ['--version'], { encoding: 'utf8' }).trim().replace('git version ', ''),
    cores: cores.length,
    cpu: cores[0]?.model.trim() ?? 'unknown',
    os: `${type()} ${release().split('.', 2).join('.')}`,
  };
}

/** Load of the last minute. The bench itself adds less than two; more comes from other programs. */
export function loadNow() {
  return loadavg()[0].toFixed(1);
}

export function isFarOff({ value, limit }) {
  return value > limit * (1 + TOLERANCE);
}

export function formatText(results) {
  return results.map(sectionText).join('\n');
}

function sectionText({ title, rows, aims }) {
  const width = Math.max(...rows.map(([label]) => label.length));
  const lines = rows.map(([label, value]) => `  ${label.padEnd(width)}  ${value}`);
  return `${title}\n${[...lines, ...aims.map((aim) => `  aim: ${formatAim(aim)}`)].join('\n')}\n`;
}

export function formatMarkdown(machine, results, { quick }) {
  const { date, node, git, cores, cpu, os, load } = machine;
  const facts = `${date} · Node ${node} · git ${git} · ${cores} cores · ${cpu} · ${os} · load ${load.before} before, ${load.after} after${quick ? ' · quick run' : ''}`;
  const intro = 'Written by `node bench/run.js --write`. Numbers are medians, in brackets the lowest and the highest.';
  return `# Results\n\n${intro}\n\n${facts}\n\n${aimTable(results)}\n${results.map(sectionTable).join('\n')}`;
}

function aimTable(results) {
  const rows = results.flatMap(({ aims }) => aims).map((aim) => `| ${aim.what} | ${verdict(aim).join(' | ')} |`);
  return `| aim | measured | at most | |\n| --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function sectionTable({ title, rows }) {
  const lines = rows.map(([label, value]) => `| ${label} | ${value} |`);
  return `## ${title}\n\n| | |\n| --- | --- |\n${lines.join('\n')}\n`;
}

function formatAim(aim) {
  const [measured, limit, word] = verdict(aim);
  return `${aim.what}: ${measured}, at most ${limit}: ${word}`;
}

function verdict(aim) {
  const word = aim.value <= aim.limit ? 'met' : isFarOff(aim) ? 'missed' : 'just missed';
  const unit = aim.unit ?? 'times';
  return [`${aim.value.toFixed(2)} ${unit}`, `${aim.limit} ${unit}`, word];
}
