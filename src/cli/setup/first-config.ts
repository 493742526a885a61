import { listed } from '../../lib/index.ts';
import type { Stack } from './detect-stack.ts';

/** Pure. The configuration that `init` writes. What is not sure to work is a proposal, behind "#". */
export function firstConfig(stacks: readonly Stack[], inContainers: boolean): string {
  const [stack] = stacks;
  return `# yaml-language-server: $schema=schemas/config.schema.json
# Mahabharatha. Every key may be left out; what is written here are the defaults, if nothing else is said.
${stacks.map(({ name, isSure }) => `# Found here: ${name}${isSure ? '' : ' (a proposal behind "#")'}.\n`).join('')}
agent: claude            # who does tasks without a "run" command: claude, codex, gemini, opencode, or a name under "agents"

# claude:
#   model: sonnet        # passed on as --model
#   args: []

# agents:                # any other command line agent
#   mine:
#     command: [my-agent, --unattended]
#     prompt: stdin      # stdin, argument ("{prompt}") or file ("{prompt_file}")

workers:
  count: 4
  mode: auto             # container, subprocess (with your own rights), or auto: see kurukshetra --help
${setupLine(stack)}
  # copy: [".env*"]      # ignored files that tasks need
  task_timeout: 30m      # one attempt of one task
  idle_timeout: 10m      # without a byte of output
${allowLines(stack, inContainers)}
retry:
  attempts: 3

# limits:                # in US dollars; a run pauses at its cap (exit 3), and goes on with --resume --max-cost <more>
#   cost: 20             # what the agents of a run may cost
#   task_cost: 3         # all attempts of one task together; then the task fails
#   time: 8h             # one call of kurukshetra

ownership: enforce       # a task changes only the files that it declares: enforce, warn or off

${gateLines(stack)}
`;
}

/** Pure. What was found, and what of it `firstConfig` has written; undefined when nothing was found. */
export function foundInWords(stacks: readonly Stack[]): string | undefined {
  const [stack] = stacks;
  if (stack === undefined) return undefined;
  const parts = [...(stack.setup === undefined ? [] : ['"setup"']), ...(stack.gates.length === 0 ? [] : ['"gates"'])];
  const found = `Found ${listed(stacks.map(({ name }) => name))}`;
  if (parts.length === 0) return `${found}: no set-up and no gates are proposed. See the configuration.`;
  const what = `${parts.join(' and ')}${stacks.length === 1 ? '' : ` of ${stack.name}`}`;
  const are = stack.gates.length === 0 ? 'is' : 'are';
  if (stack.isSure) return `${found}: ${what} ${are} written in the configuration: look whether that is right.`;
  return `${found}: ${what} ${are} only proposed, behind "#" in the configuration. Remove the "#" of what works here.`;
}

/** Fresh worktrees have nothing but the files of the commit. */
function setupLine(stack: Stack | undefined): string {
  const setup = `setup: ${stack?.setup ?? 'npm install'}`;
  const meaning = '# makes a fresh worktree usable; runs again when a lock file has changed';
  const isSure = stack?.isSure === true && stack.setup !== undefined;
  return `  ${isSure ? '' : '# '}${setup.padEnd(isSure ? 22 : 20)} ${meaning}`;
}

/** A section "container" says that containers are meant, so it is written only where workers run in them. */
function allowLines(stack: Stack | undefined, inContainers: boolean): string {
  if (stack === undefined || stack.allow.length === 0) return '';
  const mark = stack.isSure && inContainers ? '' : '# ';
  const tools = stack.isSure ? '' : `; their image needs the tools of ${stack.name}: docs/images.md`;
  return `  ${mark}container:
  ${mark}  allow: [agent, npm, ${stack.allow.join(', ')}]   # what containers may reach${tools}
`;
}

function gateLines(stack: Stack | undefined): string {
  const mark = stack?.isSure === true && stack.gates.length > 0 ? '' : '# ';
  const gates = stack === undefined || stack.gates.length === 0 ? [{ name: 'test', command: 'npm test' }] : stack.gates;
  const lines = gates.flatMap(({ name, command }) => [
    `${mark}  - name: ${name}`,
    `${mark}    command: ${command}`,
    `${mark}    timeout: 10m`,
  ]);
  return [`${mark}gates:                 # must pass on the merged tree after each level`, ...lines].join('\n');
}
