import type { LightningNetwork } from '../../../shared/payments/wallet-backends.ts';
import type { World } from '../../base/world.ts';
import type { LightningBackend } from '../../features/lightning/index.ts';

/** The dependencies of an adapter, for one configuration. */
export interface LightningAdapterDeps {
  /** The address of its API, without a trailing slash; empty if the secret contains it. */
  url: string;
  /** The network that the configuration names. */
  network: LightningNetwork;
  /**
   * The secret, as `parseSecret` returned it. To be read for each call, as it can be replaced. Fails with `unavailable`
   * and the remedy.
   */
  secret: () => Promise<string>;
  /** Calls to this back end only: they trust its certificate and are never recorded. */
  send: World['send'];
  world: Pick<World, 'now' | 'elapsed' | 'sleep' | 'randomBytes'>;
}

/** A Lightning back end: how its secret looks, and how to use it. Guide: docs/changing.md, "A Lightning back end". */
export interface LightningAdapter {
  /** The secret in the form that `create` takes; undefined if it is none. Files may contain it in binary. */
  parseSecret(given: Buffer): string | undefined;
  /** A description of its secrets: `64 hexadecimal digits`. */
  secretForm: string;
  /** Returns without connecting. */
  create(deps: LightningAdapterDeps): LightningBackend;
}
