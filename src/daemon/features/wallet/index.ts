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
