import type { NanoUsd } from '../../../shared/money.ts';
import type { Offer, Resolution } from '../catalog/index.ts';
import type { Facts } from './facts.ts';
import type { Target } from './health.ts';

/** One provider to try, and whose key pays. */
export interface Route extends Target {
  offer: Offer;
  /** Whose call it is, and whose own key is used where `ownKey` is set: then nothing is charged here. */
  workspaceId: string;
  ownKey: boolean;
  /** Tried only once all others failed: it is benched for now. */
  isLastResort: boolean;
}

/** The most that a caller will pay, in nano-dollars per million tokens, margin included. */
export interface PriceCap {
  input?: NanoUsd | null;
  output?: NanoUsd | null;
}

/** What the caller prefers: the member `service` of the request. */
export interface RoutePreferences {
  pay?: 'mine' | 'ours';
  maxPrice?: PriceCap | null;
  /** Providers to try first, in this order. */
  order?: readonly string[];
  /** The only providers to try. */
  only?: readonly string[];
  ignore?: readonly string[];
  sort?: 'price' | 'latency' | 'throughput';
}

/** What the caller's key is held to. */
export interface RouteCaps {
  maxPrice?: PriceCap | null;
  /** Model ids with `*` for any characters, and the name of the limit for who breaks it. */
  models?: readonly { param: 'limits.models' | 'scopes.models'; allowed: readonly string[] }[];
  /** Whether the key has a spending cap: then nothing of unknown price is called on the host's account. */
  isSpendCapped?: boolean;
}

export interface PlanRequest {
  /** The model that was asked for, then those to fall back to. At least one. */
  candidates: readonly Resolution[];
  facts: Facts;
  preferences: RoutePreferences;
  caps: RouteCaps;
  /** Whether the caller's workspace pays in advance. */
  isPrepaid: boolean;
  /** Providers that the workspace has keys of its own for. */
  ownKeys?: ReadonlySet<string>;
  workspaceId: string;
  /** In millionths. */
  marginPpm: number;
}

/** The simulator fails when it is told to: what it does to one call must not change the next. */
export function isSimulated({ offer }: { offer: Offer }): boolean {
  return offer.kind === 'simulator';
}

/** The workspace whose own key an account stands for; undefined for the host's account. */
export function accountOwner({
  account,
  provider,
}: Pick<Target, 'account' | 'provider'>): string | undefined {
  return account === provider ? undefined : account.slice(ownAccount(provider, '').length);
}

/** The account that health is kept of when a workspace's own key is used. */
export function ownAccount(provider: string, workspaceId: string): string {
  return `${provider} of ${workspaceId}`;
}
