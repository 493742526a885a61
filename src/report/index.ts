export { formatHtml } from './html.ts';
export { formatMarkdown } from './markdown.ts';
export { formatPullRequest } from './pull-request-text.ts';
export { reportOf } from './run-report.ts';
export type { RunReport } from './run-report.ts';
