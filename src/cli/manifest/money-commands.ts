import {
  createInvoice,
  createWallet,
  getBalance,
  getInvoice,
  getPayment,
  grantCredit,
  listCredit,
  listInvoices,
  listPayments,
  payInvoice,
  useFaucet,
  verifyLedger,
} from './endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** Wallets and payments, credit and the ledger. */
export const moneyCommands: Record<string, CommandEntry | NounEntry> = {
  wallet: {
    summary: 'Manage your Lightning wallet.',
    alone: 'balance',
    verbs: {
      create: {
        summary: 'Create a wallet.',
        endpoint: createWallet,
        load: async () => (await import('../commands/wallet.ts')).createWalletCommand,
      },
      import: {
        summary: 'Import a wallet from its recovery phrase.',
        endpoint: createWallet,
        load: async () => (await import('../commands/wallet.ts')).importWalletCommand,
      },
      balance: {
        summary: 'Show the balance.',
        endpoint: getBalance,
        load: async () => (await import('../commands/wallet.ts')).balanceCommand,
      },
      faucet: {
        summary: 'Add play money, to try payments out.',
        endpoint: useFaucet,
        load: async () => (await import('../commands/wallet.ts')).faucetCommand,
      },
    },
  },
  invoice: {
    summary: 'Create and view invoices of your wallet.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create an invoice.',
        endpoint: createInvoice,
        load: async () => (await import('../commands/invoices.ts')).createInvoiceCommand,
      },
      list: {
        summary: 'List your invoices.',
        endpoint: listInvoices,
        lists: {
          completes: ['invoice-id'],
          suggest: rowsOf(listInvoices, { query: {} }, ({ id, description }) => ({
            value: id,
            meaning: description,
          })),
        },
        load: async () => (await import('../commands/invoices.ts')).listInvoicesCommand,
      },
      show: {
        summary: 'Show an invoice and its QR code.',
        endpoint: getInvoice,
        load: async () => (await import('../commands/invoices.ts')).showInvoiceCommand,
      },
    },
  },
  pay: {
    summary: 'Pay a Lightning invoice from your wallet.',
    endpoint: payInvoice,
    load: async () => (await import('../commands/payments.ts')).payCommand,
  },
  payments: {
    summary: 'View payments from your wallet.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List your payments.',
        endpoint: listPayments,
        lists: {
          completes: ['payment'],
          suggest: rowsOf(listPayments, { query: {} }, ({ paymentId, description, status }) => ({
            value: paymentId,
            meaning: description ?? status,
          })),
        },
        load: async () => (await import('../commands/payments.ts')).listPaymentsCommand,
      },
      show: {
        summary: 'Show a payment and its proof.',
        endpoint: getPayment,
        load: async () => (await import('../commands/payments.ts')).showPaymentCommand,
      },
    },
  },
  credit: {
    summary: "View and grant workspaces' credit.",
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show balances.',
        endpoint: listCredit,
        lists: { alsoListsPaths: [grantCredit.path] },
        load: async () => (await import('../commands/credit.ts')).showCreditCommand,
      },
      grant: {
        summary: 'Grant credit to a workspace.',
        endpoint: grantCredit,
        load: async () => (await import('../commands/credit.ts')).grantCreditCommand,
      },
    },
  },
  ledger: {
    summary: 'Inspect and verify the ledger.',
    verbs: {
      verify: {
        summary: 'Check that the ledger balances.',
        endpoint: verifyLedger,
        load: async () => (await import('../commands/ledger.ts')).verifyLedgerCommand,
      },
    },
  },
};
