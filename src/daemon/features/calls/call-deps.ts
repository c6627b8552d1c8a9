import type { MakeId } from '../../../shared/ids.ts';
import type { Log } from '../../base/log.ts';
import type { World } from '../../base/world.ts';
import type { Concurrency } from '../concurrency/index.ts';
import type { GuardrailSettings, Guardrails } from '../guardrails/index.ts';
import type { Admission, FreeTierSettings, MeteringStore } from '../metering/index.ts';
import type { PaidCalls } from '../payment-required/index.ts';
import type { Router } from '../routing/index.ts';
import type { Captures } from './call-capture.ts';
import type { CallObserver } from './call-observer.ts';
import type { RunningCalls } from './cancellation.ts';
import type { HasHardBudget, RouteBudgets } from './key-policy.ts';
import type { Sealer } from './sealing.ts';
import type { SilentStarts } from './silent-starts.ts';

export interface CallDeps {
  world: Pick<World, 'now' | 'elapsed'>;
  makeId: MakeId;
  router: Router;
  admission: Admission;
  metering: Pick<MeteringStore, 'progress'>;
  sealer: Sealer;
  settings: {
    readonly marginPpm: number;
    readonly freeTier: FreeTierSettings;
    /** How long a provider may be silent before a stream starts without its answer; 0: as long as it likes. */
    readonly silentStartMs: number;
    /** Whether any provider or model has a limit of concurrent calls. */
    readonly hasConcurrency?: boolean;
    readonly guardrails: Pick<GuardrailSettings, 'isUsed'>;
  };
  /** Bounds how many calls run at a time. */
  concurrency?: Pick<Concurrency, 'enter'>;
  /** What calls and answers have to pass. */
  guardrails: Pick<Guardrails, 'begin' | 'checksRequests' | 'counted' | 'request'>;
  silentStarts: SilentStarts;
  /** Whether a workspace pays in advance. */
  isPrepaid?: (workspaceId: string) => boolean;
  /** Whether a budget could reject a call. */
  hasHardBudget?: HasHardBudget;
  /** Budgets of models and providers. */
  budgets?: RouteBudgets;
  /** Offers invoices for calls that the balance does not cover. */
  paidCalls?: Pick<PaidCalls, 'offer' | 'accept'>;
  /** Where running calls can be found, to cancel them. */
  running?: RunningCalls;
  /** Keeps the content of calls. */
  captures?: Captures;
  /** Observers of all calls. */
  observers: readonly CallObserver[];
  log: Pick<Log, 'warn'>;
}
