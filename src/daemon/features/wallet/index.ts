export { type BackendTerms, backendHandlers } from './backend-handlers.ts';
export { BackendWatch } from './backend-watch.ts';
export { embeddedBackend } from './embedded-backend.ts';
export { paymentHandlers, walletHandlers } from './handlers.ts';
export { type Invoices, invoices } from './invoices.ts';
export { Payments, type PayRequest } from './payments.ts';
export type { SpendingLimits } from './spending-limits.ts';
export type {
  InvoiceRecord,
  NewInvoice,
  NewPayment,
  PaymentRecord,
  PaymentRefusal,
  WalletBalance,
  WalletRecord,
  WalletStore,
} from './store.ts';
export { trustNode, withTrustedNode } from './trusted-node.ts';
export { type Wallets, wallets } from './wallets.ts';
