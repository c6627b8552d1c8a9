import * as endpoints from '../../shared/endpoints.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** Wallets and payments, credit and the ledger. */
export const moneyCommands: Record<string, CommandEntry | NounEntry> = {
  wallet: {
    summary: 'Manage your Lightning wallet.',
    alone: 'balance',
    verbs: {
      create: {
        summary: 'Create a wallet.',
        endpoint: endpoints.createWallet,
        load: async () => (await import('../commands/wallet.ts')).createWalletCommand,
      },
      import: {
        summary: 'Import a wallet from its recovery phrase.',
        endpoint: endpoints.createWallet,
        load: async () => (await import('../commands/wallet.ts')).importWalletCommand,
      },
      phrase: {
        summary: 'Show the recovery phrase again.',
        endpoint: endpoints.showPhrase,
        load: async () => (await import('../commands/wallet.ts')).phraseCommand,
      },
      balance: {
        summary: 'Show the balance.',
        endpoint: endpoints.getBalance,
        load: async () => (await import('../commands/wallet.ts')).balanceCommand,
      },
      faucet: {
        summary: 'Add play money, to try payments out.',
        endpoint: endpoints.useFaucet,
        load: async () => (await import('../commands/wallet.ts')).faucetCommand,
      },
      connect: {
        summary: 'Connect wallets to a Lightning node.',
        endpoint: endpoints.putWalletSecret,
        load: async () => (await import('../commands/wallet-backend.ts')).connectWalletCommand,
      },
      backend: {
        summary: 'Check the Lightning node.',
        endpoint: endpoints.getWalletBackend,
        load: async () => (await import('../commands/wallet-backend.ts')).walletBackendCommand,
      },
      'trust-node': {
        summary: 'Trust another Lightning node with the money of the wallets.',
        endpoint: endpoints.trustNode,
        load: async () => (await import('../commands/wallet-backend.ts')).trustNodeCommand,
      },
      reconcile: {
        summary: 'Compare wallets with the Lightning node after a restore.',
        endpoint: endpoints.reconcileWallets,
        load: async () => (await import('../commands/reconcile-wallets.ts')).reconcileWalletsCommand,
      },
      fund: {
        summary: 'Fund your wallet from the Lightning node.',
        endpoint: endpoints.fundWallet,
        load: async () => (await import('../commands/wallet-backend.ts')).fundWalletCommand,
      },
      disconnect: {
        summary: 'Disconnect the Lightning node.',
        endpoint: endpoints.deleteWalletSecret,
        load: async () => (await import('../commands/wallet-backend.ts')).disconnectWalletCommand,
      },
    },
  },
  invoice: {
    summary: 'Create and view invoices of your wallet.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create an invoice.',
        endpoint: endpoints.createInvoice,
        load: async () => (await import('../commands/invoices.ts')).createInvoiceCommand,
      },
      list: {
        summary: 'List your invoices.',
        endpoint: endpoints.listInvoices,
        lists: {
          completes: ['invoice-id'],
          suggest: rowsOf(endpoints.listInvoices, { query: {} }, ({ id, description }) => ({
            value: id,
            meaning: description,
          })),
        },
        load: async () => (await import('../commands/invoices.ts')).listInvoicesCommand,
      },
      show: {
        summary: 'Show an invoice and its QR code.',
        endpoint: endpoints.getInvoice,
        load: async () => (await import('../commands/invoices.ts')).showInvoiceCommand,
      },
    },
  },
  pay: {
    summary: 'Pay a Lightning invoice, address or LNURL from your wallet.',
    endpoint: endpoints.payInvoice,
    load: async () => (await import('../commands/payments.ts')).payCommand,
  },
  fetch: {
    summary: 'Request a URL, and pay for it if the server asks.',
    load: async () => (await import('../commands/fetch/fetch.ts')).fetchCommand,
  },
  payments: {
    summary: 'View payments from your wallet, and resolve pending ones.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List your payments.',
        endpoint: endpoints.listPayments,
        lists: {
          completes: ['payment'],
          alsoListsPaths: ['/v1/admin/payments'],
          suggest: rowsOf(endpoints.listPayments, { query: {} }, ({ paymentId, description, status }) => ({
            value: paymentId,
            meaning: description ?? status,
          })),
        },
        load: async () => (await import('../commands/payments.ts')).listPaymentsCommand,
      },
      show: {
        summary: 'Show a payment and its proof.',
        endpoint: endpoints.getPayment,
        load: async () => (await import('../commands/payments.ts')).showPaymentCommand,
      },
      resolve: {
        summary: 'Declare how a pending payment ended (admin).',
        endpoint: endpoints.resolvePayment,
        load: async () => (await import('../commands/payments.ts')).resolvePaymentCommand,
      },
    },
  },
  paywalls: {
    summary: 'Ask for payments in front of web servers.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Put a price on requests to a web server.',
        endpoint: endpoints.createPaywall,
        load: async () => (await import('../commands/paywalls.ts')).createPaywallCommand,
      },
      list: {
        summary: 'List your paywalls and their revenue.',
        endpoint: endpoints.listPaywalls,
        options: ['status'],
        lists: {
          completes: ['paywall'],
          suggest: rowsOf(endpoints.listPaywalls, { query: {} }, ({ name, url }) => ({
            value: name,
            meaning: url ?? undefined,
          })),
        },
        load: async () => (await import('../commands/paywalls.ts')).listPaywallsCommand,
      },
      show: {
        summary: 'Show a paywall.',
        endpoint: endpoints.getPaywall,
        load: async () => (await import('../commands/paywalls.ts')).showPaywallCommand,
      },
      pause: {
        summary: 'Answer requests with 503; paid tokens stay valid.',
        endpoint: endpoints.updatePaywall,
        load: async () => (await import('../commands/paywalls.ts')).pausePaywallCommand,
      },
      resume: {
        summary: 'Serve a paused paywall again.',
        endpoint: endpoints.updatePaywall,
        load: async () => (await import('../commands/paywalls.ts')).resumePaywallCommand,
      },
      delete: {
        summary: 'Delete a paywall and revoke its tokens.',
        endpoint: endpoints.deletePaywall,
        load: async () => (await import('../commands/paywalls.ts')).deletePaywallCommand,
      },
      export: {
        summary: 'Export the configuration of another proxy.',
        endpoint: endpoints.exportPaywalls,
        load: async () => (await import('../commands/paywalls.ts')).exportPaywallsCommand,
      },
    },
  },
  credit: {
    summary: "View, buy and grant workspaces' credit.",
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show balances.',
        endpoint: endpoints.listCredit,
        lists: { alsoListsPaths: [endpoints.grantCredit.path] },
        load: async () => (await import('../commands/credit.ts')).showCreditCommand,
      },
      buy: {
        summary: 'Buy credit with a Lightning invoice.',
        endpoint: endpoints.buyCredit,
        load: async () => (await import('../commands/buy-credit.ts')).buyCreditCommand,
      },
      grant: {
        summary: 'Grant credit to a workspace.',
        endpoint: endpoints.grantCredit,
        load: async () => (await import('../commands/credit.ts')).grantCreditCommand,
      },
    },
  },
  ledger: {
    summary: 'Inspect and verify the ledger.',
    verbs: {
      verify: {
        summary: 'Check that the ledger balances.',
        endpoint: endpoints.verifyLedger,
        load: async () => (await import('../commands/ledger.ts')).verifyLedgerCommand,
      },
    },
  },
};
