export type {
  BackendName,
  InvoiceRequest,
  IssuedInvoice,
  LightningBackend,
  PaymentFailure,
  PaymentOutcome,
  PaymentRequest,
} from './backend.ts';
export {
  decodeInvoice,
  encodeInvoice,
  InvalidInvoice,
  type Invoice,
  type InvoiceNetwork,
  type InvoiceTerms,
} from './bolt11.ts';
export { createMnemonic, mnemonicFault, type NodeKey, nodeKeyOf, normalizeMnemonic } from './mnemonic.ts';
