import { inDuration } from '../lib/text/amounts.ts';
import { costOf, factsOf, isTroubled, short, standingOf, timeOfTask } from './facts.ts';
import { el, raw } from './html-text.ts';
import type { Html } from './html-text.ts';
import { timelineHtml } from './html-timeline.ts';
import { STYLE } from './html-style.ts';
import type { ReportAttempt, ReportLevel, ReportTask, RunReport } from './run-report.ts';

/** Pure. One page that needs no other file and no script. */
export function formatHtml(report: RunReport): string {
  const { feature, status, tasks, levels, warnings, timeline } = report;
  const troubled = tasks.filter(isTroubled);
  const body = [
    el('h1', {}, [`Feature ${feature}: `, el('span', { class: `status ${status}` }, [status])]),
    el(
      'dl',
      {},
      factsOf(report).flatMap(([name, text]) => [el('dt', {}, [name]), el('dd', {}, [text])]),
    ),
    ...section('What is not done', troubled.map(troubleHtml)),
    ...timelineHtml(timeline),
    ...section('Tasks', [tasksTable(tasks)]),
    ...section('Gates', gatesTable(levels)),
    ...section(
      'Warnings',
      warnings.map((warning) => el('p', { class: 'warning' }, [warning])),
    ),
  ];
  const head = [
    raw('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
    // Nothing is loaded, and no script runs, whatever stands in the page.
    raw(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`),
    el('title', {}, [`${feature}: ${status}`]),
    raw(`<style>${STYLE}</style>`),
  ];
  const page = el('html', { lang: 'en' }, [el('head', {}, head), el('body', {}, body)]);
  return `<!doctype html>\n${page.html}\n`;
}

const section = (title: string, parts: readonly Html[]): Html[] =>
  parts.length === 0 ? [] : [el('section', {}, [el('h2', {}, [title]), ...parts])];

const troubleHtml = ({ id, status, cause }: ReportTask): Html =>
  el('p', { class: 'trouble' }, [el('b', {}, [id]), ` is ${status}: ${cause ?? 'no cause is known'}`]);

function tasksTable(tasks: readonly ReportTask[]): Html {
  const rows = tasks.map((task) => {
    const { id, title, level, attempts, attemptCount, commit } = task;
    const about =
      attempts.length === 0 ? [title] : [el('details', {}, [el('summary', {}, [title]), attemptsList(attempts)])];
    return el('tr', {}, [
      el('td', { class: 'id' }, [id]),
      el('td', {}, about),
      el('td', { class: 'number' }, [String(level)]),
      el('td', {}, [el('span', { class: `status ${task.status}` }, [standingOf(task)])]),
      el('td', { class: 'number' }, [String(attemptCount)]),
      el('td', { class: 'number' }, [timeOfTask(task)]),
      el('td', { class: 'id' }, [commit === null ? '' : short(commit)]),
    ]);
  });
  return table(['task', 'title', 'level', 'standing', 'attempts', 'time', 'commit'], rows);
}

function attemptsList(attempts: readonly ReportAttempt[]): Html {
  const items = attempts.map(({ number, worker, outcome, detail, ms, usage }) =>
    el('li', { value: String(number) }, [
      `${outcome ?? 'not ended'} on worker ${worker}, ${inDuration(ms)}`,
      usage === null ? '' : `, ${costOf(usage)}`,
      detail === null ? '' : `: ${detail}`,
    ]),
  );
  return el('ol', {}, items);
}

function gatesTable(levels: readonly ReportLevel[]): Html[] {
  const rows = levels.flatMap(({ level, gates }) =>
    gates.map(({ name, ok, required, detail }) =>
      el('tr', {}, [
        el('td', { class: 'number' }, [String(level)]),
        el('td', {}, [name]),
        el('td', {}, [el('span', { class: `status ${ok ? 'complete' : 'failed'}` }, [ok ? 'green' : 'red'])]),
        el('td', {}, [required ? detail : `${detail} (not required)`]),
      ]),
    ),
  );
  return rows.length === 0 ? [] : [table(['level', 'gate', 'result', 'detail'], rows)];
}

function table(names: readonly string[], rows: readonly Html[]): Html {
  const head = el(
    'tr',
    {},
    names.map((name) => el('th', {}, [name])),
  );
  return el('div', { class: 'wide' }, [el('table', {}, [el('thead', {}, [head]), el('tbody', {}, rows)])]);
}
