export { kindOf, readAddress } from './address.ts';
export type { AddressKind } from './address.ts';
export { permissionFor } from './permission.ts';
export type { Permission } from './permission.ts';
export { askedFor, reasonText, refusalText, whatText } from './refusal-text.ts';
export type { Refused } from './refusal-text.ts';
export { readAbsoluteUri, readAuthority, readHost, readOriginForm, targetText } from './target.ts';
export type { HttpTarget, Target } from './target.ts';
