import type { CommandDefinition } from '../command.ts';
import { JSON_OPTION } from '../command.ts';

export const list = {
  name: 'list',
  summary: 'list the features: how far each is, and what it needs next',
  options: { json: JSON_OPTION },
  details: [
    `A feature is planned (its requirements are a draft), approved, designed (it has a task graph), running, paused, stopped,
failed, complete, or merged: another branch has all its work.`,
  ],
  examples: [
    ['mahabharatha list', 'all features'],
    [`mahabharatha list --json | jq '.features[] | {feature, standing}'`, 'for a program'],
  ],
} as const satisfies CommandDefinition;
