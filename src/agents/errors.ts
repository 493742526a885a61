import { defineErrors } from '../lib/app-error.ts';
import { didYouMean } from '../lib/text/nearest.ts';
import { counted, listed } from '../lib/text/words.ts';

export const agentErrors = defineErrors({
  AGENT_GAVE_NO_ANSWER: {
    kind: 'work',
    example: { feature: 'login.planning', outcome: 'not-owned', attempts: 3, reason: 'it changed src/a.ts' },
    message: (f) =>
      `The agent has given no answer after ${counted(f.attempts, 'attempt')} (${f.outcome}): ${f.reason}. No file of yours was changed.`,
    hint: (f) =>
      `See what it did with: mahabharatha logs --feature ${f.feature} — or ask again, which removes those logs; --agent names another agent, and plan --without-agent makes a template to fill in by hand.`,
  },
  AGENT_TAKES_NO_MODEL: {
    kind: 'usage',
    example: { task: 'LOGIN-1', agent: 'mine', model: 'large' },
    message: (f) => `The task ${f.task} asks for the model "${f.model}", which the agent "${f.agent}" cannot be told.`,
    hint: () => 'Remove "model" from the task, or name an agent that takes one: claude, codex, gemini or opencode.',
  },
  AGENT_UNCONFINED: {
    kind: 'environment',
    example: { agents: ['claude'], tasks: 2 },
    message: (f) =>
      `There is no container engine on this machine, and ${f.tasks} of the tasks ${f.tasks === 1 ? 'is' : 'are'} for an agent (${listed(f.agents)}), which would act with your own rights and without asking.`,
    hint: () =>
      `Install Docker and run: mahabharatha build — or, if you trust agent and repository with your own rights: --mode subprocess`,
  },
  AGENT_UNKNOWN: {
    kind: 'usage',
    example: { agent: 'gpt', known: ['claude', 'mine'], tasks: ['LOGIN-1'] },
    message: (f) =>
      `There is no agent called "${f.agent}"${f.tasks.length === 0 ? '' : `, which ${listed(f.tasks)} of the task graph asks for`}.`,
    hint: (f) =>
      `${didYouMean(f.agent, f.known)}Known agents: ${listed(f.known)}. Others are defined under "agents:" in .mahabharatha/config.yaml.`,
  },
  AGENT_UNUSABLE: {
    kind: 'environment',
    example: { agent: 'claude', tasks: 1, reason: 'it is not installed', remedy: 'Install it.' },
    message: (f) =>
      `The agent "${f.agent}" cannot be used: ${f.reason}. ${counted(f.tasks, 'task needs', 'tasks need')} an agent.`,
    hint: (f) => f.remedy,
  },
  COST_UNKNOWN: {
    kind: 'usage',
    example: { agent: 'mine' },
    message: (f) => `The agent "${f.agent}" does not tell what it costs, so a cap on the cost could not hold.`,
    hint: () =>
      'Take another agent, or leave out --max-cost and --max-task-cost (limits.cost and limits.task_cost in .mahabharatha/config.yaml); --max-time holds for every agent.',
  },
  NO_AGENT: {
    kind: 'environment',
    example: { reason: '"claude" is not on the PATH', remedy: 'Install it.' },
    message: (f) => `No agent can be asked: ${f.reason}.`,
    hint: (f) => f.remedy,
  },
});
