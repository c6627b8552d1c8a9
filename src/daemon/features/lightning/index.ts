export {
  BackendFailure,
  type BackendInfo,
  type BackendName,
  type InvoiceRequest,
  type IssuedInvoice,
  type LightningBackend,
  type NodeMove,
  type PaymentFailure,
  type PaymentOutcome,
  type PaymentRequest,
} from './backend.ts';
export type { Invoice, InvoiceNetwork } from './bolt11.ts';
export { InvalidInvoice } from './invalid-invoice.ts';
export type { NodeKey } from './mnemonic.ts';
export { isPreimageOf } from './preimage.ts';

/** Loaded on first use, as the libraries for curves and phrases take long to load, and most daemons never need them. */
export const loadBolt11 = () => import('./bolt11.ts');
export const loadMnemonic = () => import('./mnemonic.ts');
export const loadLnurl = () => import('./lnurl.ts');
