import type { ProxyProgram } from '../egress/rules/index.ts';
import type { Engine, Labels } from '../engines/index.ts';
import type { ModelAccess } from '../protocol/index.ts';
import type { Owner } from './owner.ts';

export interface ContainersOptions {
  readonly engine: Engine;
  /** Null when no container has a way out. */
  readonly egress: Egress | null;
  /** Volumes that outlive their owners; made before the first container. */
  readonly volumes: readonly { readonly name: string; readonly labels: Labels }[];
  readonly startSweeper: StartSweeper;
  /** How long an engine may be away before it is given up. */
  readonly outageMs?: number;
}

/** Starts the process that removes what an owner has in the engine when the owner is killed. */
export type StartSweeper = (owner: Owner) => { close(): void };

/** The egress proxy's container. */
export interface Egress {
  /** A promise, so that containers are made while the rules are still being read. */
  readonly program: Promise<ProxyProgram>;
  /** What the proxy adds to requests for the model. It goes by stdin, because it is secret; null for nothing. */
  readonly access: ModelAccess | null;
  /** An image of ours, by its id: nothing of a repository is in it. */
  readonly image: string;
  readonly uid: number;
  readonly gid: number;
  readonly runtime: string | null;
}
