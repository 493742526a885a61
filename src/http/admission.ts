import { z } from 'zod';
import type { Sessions } from '../sandbox/index.ts';
import { sandboxErrors } from '../sandbox/errors.ts';
import { httpErrors } from './errors.ts';
import { createLimiter } from './limiter.ts';
import type { Limiter } from './limiter.ts';

/** Requests in a minute. */
interface Rates {
  readonly user: number;
  readonly project: number;
}

/** What a request is about, as far as it says so. */
interface Asked {
  readonly user: string;
  readonly session: string | undefined;
  readonly body: unknown;
}

export type Admission = ReturnType<typeof createAdmission>;

const named = z.object({ project_id: z.string().max(64) });

/** Limits requests, and keeps users to their own sessions: those of other users count as missing. */
export function createAdmission(sessions: Pick<Sessions, 'list' | 'facts'>, rates: Rates) {
  const users = createLimiter(rates.user);
  const projects = createLimiter(rates.project);
  const owners = new Map<string, string>();
  const isOwn = (user: string, session: string): boolean => owners.get(session) === user;
  const checkProject = (user: string, project: string): void =>
    take(projects, `${user}/${project}`, `the project ${project}`);
  return {
    /** Throws RATE_LIMITED. */
    checkRate: (user: string): void => take(users, user, `the user ${user}`),
    /** Throws SESSION_UNKNOWN and RATE_LIMITED. */
    check: ({ user, session, body }: Asked): void => {
      if (session === undefined) {
        const { data } = named.safeParse(body);
        if (data !== undefined) checkProject(user, data.project_id);
        return;
      }
      if (!isOwn(user, session)) throw sandboxErrors.SESSION_UNKNOWN({ session });
      checkProject(user, sessions.facts(session).project);
    },
    /** A user has opened this session. */
    opened: (user: string, session: string): void => {
      const open = new Set(sessions.list().map(({ id }) => id));
      for (const id of owners.keys()) if (!open.has(id)) owners.delete(id);
      owners.set(session, user);
    },
    isOwn,
  };
}

function take(limiter: Limiter, key: string, who: string): void {
  const wait = limiter.take(key);
  if (wait > 0) throw httpErrors.RATE_LIMITED({ who, seconds: Math.ceil(wait / 1000) });
}
