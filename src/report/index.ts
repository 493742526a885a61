export { formatHtml } from './html.ts';
export { asText, formatMarkdown, gatesSection, tasksTable } from './markdown.ts';
export { reportOf } from './run-report.ts';
export type { RunReport } from './run-report.ts';
