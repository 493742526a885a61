import * as z from 'zod/mini';
import { price } from './usage.ts';

/** What an agent is given of a task. */
export const taskBrief = z.strictObject({
  id: z.string(),
  title: z.string(),
  description: z.string(),
  create: z.array(z.string()),
  modify: z.array(z.string()),
  delete: z.array(z.string()),
  read: z.array(z.string()),
  acceptanceCriteria: z.array(z.string()),
  /** More text for the agent. */
  context: z.string(),
  verification: z.nullable(z.strictObject({ command: z.string(), timeoutMs: z.number() })),
  /** It may change nothing: then its verification alone decides. */
  satisfied: z.boolean(),
  /** A shell command that does the task instead of an agent. */
  run: z.nullable(z.string()),
});
export type TaskBrief = z.infer<typeof taskBrief>;

/** Agents that we know ourselves: how they are called, what they print, and what they prove themselves with. */
export const KNOWN_AGENTS = ['claude', 'codex', 'gemini', 'opencode'] as const;
export type KnownAgent = (typeof KNOWN_AGENTS)[number];

const knownAgentSpec = z.strictObject({
  kind: z.enum(KNOWN_AGENTS),
  command: z.string(),
  model: z.nullable(z.string()),
  args: z.array(z.string()),
});
export type KnownAgentSpec = z.infer<typeof knownAgentSpec>;

/** All that a worker must know to start the agent. */
export const agentSpec = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('shell') }),
  knownAgentSpec,
  z.strictObject({
    kind: z.literal('command'),
    name: z.string(),
    command: z.array(z.string()).check(z.minLength(1)),
    prompt: z.enum(['stdin', 'argument', 'file']),
  }),
]);
export type AgentSpec = z.infer<typeof agentSpec>;

/** The name that the user gave the agent. */
export function agentName(agent: AgentSpec): string {
  return agent.kind === 'command' ? agent.name : agent.kind;
}

export function isKnownAgent(agent: AgentSpec): agent is KnownAgentSpec {
  return agent.kind !== 'shell' && agent.kind !== 'command';
}

const KNOWN_NAMES: ReadonlySet<string> = new Set(KNOWN_AGENTS);

export function isKnownName(name: string): name is KnownAgent {
  return KNOWN_NAMES.has(name);
}

export const limits = z.strictObject({
  /** For the agent of the whole attempt. */
  totalMs: z.number(),
  /** Without any output. */
  idleMs: z.number(),
  /** Between the agent's result and its exit. */
  completionMs: z.number(),
});
export type Limits = z.infer<typeof limits>;

const common = { version: z.literal(1), attempt: z.string(), base: z.string() };

const taskAssignment = z.strictObject({
  ...common,
  kind: z.literal('task'),
  task: taskBrief,
  /** Why the last attempt failed, for the prompt. */
  feedback: z.nullable(z.string()),
  agent: agentSpec,
  limits,
  /** The user's own prices of models; an assignment of an earlier version has none. */
  prices: z._default(z.record(z.string(), price), {}),
  /** Its verification runs in this worktree, after the agent; otherwise elsewhere, on its commit. */
  verify: z.boolean(),
  /** An attempt has failed: ignored files are removed, too, but those that the set-up has made, when they are as it made them. */
  fresh: z.boolean(),
});

export const gateSpec = z.strictObject({
  name: z.string(),
  command: z.string(),
  required: z.boolean(),
  timeoutMs: z.number(),
});
export type GateSpec = z.infer<typeof gateSpec>;

const gateAssignment = z.strictObject({ ...common, kind: z.literal('gate'), gates: z.array(gateSpec) });

const verifyAssignment = z.strictObject({
  ...common,
  kind: z.literal('verify'),
  task: z.string(),
  command: z.string(),
  timeoutMs: z.number(),
});

const prepareAssignment = z.strictObject({ ...common, kind: z.literal('prepare') });

/** What the orchestrator gives a worker to do: written to `inbox/assignment.json`, replaced as a whole. */
export const assignment = z.discriminatedUnion('kind', [
  taskAssignment,
  gateAssignment,
  verifyAssignment,
  prepareAssignment,
]);
export type Assignment = z.infer<typeof assignment>;
export type TaskAssignment = z.infer<typeof taskAssignment>;
export type GateAssignment = z.infer<typeof gateAssignment>;
/** To verify the work of an attempt, of which `base` is the commit. */
export type VerifyAssignment = z.infer<typeof verifyAssignment>;
/** To check out `base` and to set it up, and nothing more: for a snapshot. */
export type PrepareAssignment = z.infer<typeof prepareAssignment>;

/** Whether an agent does the task, and not a command. */
export function asksAgent({ task, agent }: Pick<TaskAssignment, 'task' | 'agent'>): boolean {
  return task.run === null && agent.kind !== 'shell';
}

/** Whether the agent tells what it costs while it works. */
export function tellsCost({ kind }: Pick<AgentSpec, 'kind'>): boolean {
  return kind === 'claude' || kind === 'opencode';
}
