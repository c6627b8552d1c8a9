import type { KeyPolicy } from '../../../base/handler.ts';
import type { HeldRoute } from '../store.ts';
import type { Fit } from './fit.ts';

/** The conditions of a hold. */
export interface HoldTerms {
  /** The calling key's policy; undefined for a login. */
  policy: KeyPolicy | undefined;
  /** Whether the workspace pays in advance. */
  isPrepaid: boolean;
  /** Set for the call of an agent. */
  agent?: AgentTerms | undefined;
  fit: Fit;
  /** The routes that remain since `fit` was called last; set for a record with routes. */
  fittedRoutes?: () => readonly HeldRoute[];
}

/** The conditions of an agent's call. */
export interface AgentTerms {
  agentId: string;
  /** Why the call is not part of the free tier, as a sentence; undefined if it is. */
  outsideFreeTier: string | undefined;
  /** Whether the caller set a maximum for the output. The agent's credit must cover that; without one, it may be shortened. */
  hasMaximum: boolean;
}
