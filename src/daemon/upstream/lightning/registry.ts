import type { ConnectedBackend } from '../../../shared/payments/wallet-backends.ts';
import type { LightningAdapter } from './adapter.ts';
import { electrum } from './electrum.ts';
import { lnd } from './lnd.ts';
import { nwc } from './nwc.ts';
import { phoenixd } from './phoenixd.ts';

/** Every back end that reaches other wallets. */
export const lightningAdapters: Readonly<Record<ConnectedBackend, LightningAdapter>> = {
  electrum,
  lnd,
  nwc,
  phoenixd,
};
