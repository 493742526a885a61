import { AGENT_FACTS } from '../agents/index.ts';
import { credentialErrors } from '../credentials/errors.ts';
import { storedLogin } from '../credentials/index.ts';
import type { AgentProof, makeHandover } from '../credentials/index.ts';
import { isKnownAgent } from '../protocol/index.ts';
import type { KnownAgent } from '../protocol/index.ts';
import type { ContainerWishes } from './run-workers.ts';

type Given = Pick<Awaited<ReturnType<typeof makeHandover>>, 'handover' | 'proofs'>;

/**
 * Refuses an agent without credentials, before the first attempt would fail for it. Returns warnings about agents that may have
 * others.
 */
export async function checkCredentials(
  { used, env }: Pick<ContainerWishes, 'used' | 'env'>,
  given: Given,
): Promise<string[]> {
  const warnings: string[] = [];
  for (const { spec, tasks } of used) {
    const proof = given.proofs.find(({ agent }) => agent === spec.kind);
    if (!isKnownAgent(spec) || proof === undefined) continue;
    const { title, login } = AGENT_FACTS[spec.kind];
    const stored = await storedLogin(spec.kind, env);
    const reason = whyUnusable(spec.kind, proof, stored);
    if (reason === undefined) continue;
    if (!provesItselfOtherwise(spec.kind, given.handover, proof))
      throw credentialErrors.CREDENTIALS_MISSING({ agent: title, reason, tasks: tasks.length, login });
    if (stored !== undefined) warnings.push(`${title} works without credentials of ours: ${reason}`);
  }
  return warnings;
}

function whyUnusable(kind: KnownAgent, { credentials }: AgentProof, stored: string | undefined): string | undefined {
  if (credentials !== undefined)
    return credentials.expired ? `the login in ${credentials.source} has expired` : undefined;
  if (kind === 'claude') return 'there is no key, no token and no login';
  return stored === undefined ? 'there is no key' : `there is no key, and the login in ${stored} is not for containers`;
}

/** Clouds have their own login, some gateways take a header, and a provider that is not known here has its own variables. */
function provesItselfOtherwise(kind: KnownAgent, handover: Given['handover'], proof: AgentProof): boolean {
  if (kind === 'opencode') return true;
  if (kind !== 'claude') return false;
  const ofCloud = Object.keys(handover.env).some((name) => name.startsWith('CLAUDE_CODE_USE_'));
  return 'ANTHROPIC_CUSTOM_HEADERS' in proof.access.agent.env || ofCloud;
}
