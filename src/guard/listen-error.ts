import { systemCode } from '../lib/index.ts';
import { guardErrors } from './errors.ts';

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'you have no right to it',
  EADDRNOTAVAIL: 'this machine has no such address',
  EAFNOSUPPORT: 'this machine has no addresses of this kind',
  ENOTFOUND: 'there is no host of this name',
  EAI_AGAIN: 'its name cannot be resolved now',
};

/** Why a server cannot listen, for what is known of its address. */
export function listenError(error: unknown, where: { readonly host: string; readonly port: number }): unknown {
  const code = systemCode(error) ?? '';
  if (code === 'EADDRINUSE') return guardErrors.PORT_TAKEN(where);
  const reason = REASONS[code];
  return reason === undefined ? error : guardErrors.LISTEN_REFUSED({ ...where, reason }, { cause: error });
}
