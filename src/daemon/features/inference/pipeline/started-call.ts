import type { MakeId } from '../../../../shared/ids.ts';
import type { World } from '../../../world.ts';
import type { Admission, FreeTierSettings, MeteringStore } from '../../metering/index.ts';
import type { PaidCalls } from '../../payment-required/index.ts';
import type { OpenedRoute, Router } from '../../routing/index.ts';
import type { CallObserver } from './call-observer.ts';
import type { CancelReason } from './cancellation.ts';
import type { Meter } from './meter.ts';
import type { Output } from './output.ts';
import type { Sealer } from './sealing.ts';

/** A call that a provider has started to answer. */
export interface StartedCall extends Pick<OpenedRoute, 'answer' | 'route'> {
  /** Reports the end of the answer to routing; to be called once. */
  finishRoute: OpenedRoute['ended'];
  meter: Meter;
  output: Output;
  /** Stops the provider. */
  abort: AbortController;
  /** Why the call was canceled, if it was. */
  canceled: () => CancelReason | undefined;
  /** Stops watching for cancellation; to be called when the answer is over. */
  release: () => void;
}

export interface CallDeps {
  world: Pick<World, 'now' | 'elapsed'>;
  makeId: MakeId;
  router: Router;
  admission: Admission;
  metering: Pick<MeteringStore, 'progress'>;
  sealer: Sealer;
  settings: { readonly marginPpm: number; readonly freeTier: FreeTierSettings };
  /** Whether a workspace pays in advance. */
  isPrepaid?: (workspaceId: string) => boolean;
  /** Offers invoices for calls that the balance does not cover. */
  paidCalls?: Pick<PaidCalls, 'offer' | 'accept'>;
  /** Observers of all calls. */
  observers: readonly CallObserver[];
  log: { warn(details: object, message: string): void };
}
