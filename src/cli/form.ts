import { libErrors } from '../lib/index.ts';

const FORMS = ['text', 'mermaid', 'json'] as const;
export type Form = (typeof FORMS)[number];

/** What a command shows of a task graph. Throws USAGE. */
export function formOf({
  format = 'text',
  json,
}: {
  readonly format: string | undefined;
  readonly json: boolean;
}): Form {
  const form = FORMS.find((one) => one === format);
  if (form === undefined)
    throw libErrors.USAGE({ problem: `There is no format "${format}".`, hint: `Use ${FORMS.join(', ')}.` });
  return json ? 'json' : form;
}
