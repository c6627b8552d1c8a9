import * as endpoints from '../../shared/endpoints.ts';
import { capText } from '../../view/money.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** API keys, and the provider keys that calls are made with. */
export const keyCommands: Record<string, CommandEntry | NounEntry> = {
  keys: {
    summary: 'Manage API keys.',
    alone: 'list',
    verbs: {
      issue: {
        summary: 'Issue an API key.',
        endpoint: endpoints.issueKey,
        options: ['name'],
        load: async () => (await import('../commands/keys/keys.ts')).issueKeyCommand,
      },
      list: {
        summary: "List a workspace's keys, without secrets.",
        endpoint: endpoints.listKeys,
        lists: {
          completes: ['key'],
          suggest: rowsOf(
            endpoints.listKeys,
            { params: { workspace: 'me' }, query: { limit: 100 } },
            ({ id, name, status }) =>
              status === 'active' || status === 'paused' ? { value: id, meaning: name } : undefined,
          ),
        },
        load: async () => (await import('../commands/keys/list-keys.ts')).listKeysCommand,
      },
      show: {
        summary: 'Show a key and how much of its limits is used.',
        endpoint: endpoints.showKey,
        load: async () => (await import('../commands/keys/keys.ts')).showKeyCommand,
      },
      limits: {
        summary: "Get or set a key's limits.",
        endpoint: [endpoints.getLimits, endpoints.setLimits],
        load: async () => (await import('../commands/keys/limits.ts')).limitsCommand,
      },
      defaults: {
        summary: "Set a key's defaults.",
        endpoint: endpoints.setKeyDefaults,
        load: async () => (await import('../commands/keys/defaults.ts')).keyDefaultsCommand,
      },
      rotate: {
        summary: 'Give a key a new secret, now or periodically; its id, limits and history stay.',
        endpoint: [endpoints.rotateKey, endpoints.showKey],
        load: async () => (await import('../commands/keys/rotate-key.ts')).rotateKeyCommand,
      },
      pause: {
        summary: 'Refuse the calls of a key, and of keys it issued, until it is resumed.',
        endpoint: endpoints.pauseKey,
        load: async () => (await import('../commands/keys/keys.ts')).pauseKeyCommand,
      },
      resume: {
        summary: 'Accept the calls of a paused key again.',
        endpoint: endpoints.resumeKey,
        load: async () => (await import('../commands/keys/keys.ts')).resumeKeyCommand,
      },
      revoke: {
        summary: 'Revoke a key and the keys it issued, immediately.',
        endpoint: endpoints.revokeKey,
        load: async () => (await import('../commands/keys/keys.ts')).revokeKeyCommand,
      },
      default: {
        summary: 'Print the API key issued on first start.',
        load: async () => (await import('../commands/keys/keys.ts')).defaultKeyCommand,
      },
    },
  },
  key: {
    summary: 'Show the permissions, limits and spending of the key in use.',
    endpoint: endpoints.getKey,
    load: async () => (await import('../commands/keys/keys.ts')).keyCommand,
  },
  budgets: {
    summary: 'Limit what a workspace, key, end user, tag, model or provider costs.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List budgets with what is spent, the forecast and when they reset.',
        endpoint: endpoints.listBudgets,
        lists: {
          completes: ['budget'],
          suggest: rowsOf(endpoints.listBudgets, { params: { workspace: 'me' } }, (budget) => ({
            value: budget.id,
            meaning: capText(budget),
          })),
        },
        load: async () => (await import('../commands/budgets.ts')).listBudgetsCommand,
      },
      show: {
        summary: 'Show a budget.',
        endpoint: endpoints.getBudget,
        load: async () => (await import('../commands/budgets.ts')).showBudgetCommand,
      },
      check: {
        summary: 'Exit with 3 if a budget is used up, for scripts.',
        endpoint: [endpoints.listBudgets, endpoints.getBudget],
        load: async () => (await import('../commands/budgets.ts')).checkBudgetsCommand,
      },
      set: {
        summary: 'Add or change a budget.',
        endpoint: [endpoints.getBudget, endpoints.putBudget],
        load: async () => (await import('../commands/budgets.ts')).setBudgetCommand,
      },
      remove: {
        summary: 'Remove a budget.',
        endpoint: endpoints.deleteBudget,
        load: async () => (await import('../commands/budgets.ts')).removeBudgetCommand,
      },
    },
  },
  alerts: {
    summary: 'Get alerts when spending, errors or latency cross a line.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List alerts with their states.',
        endpoint: endpoints.listAlerts,
        lists: {
          completes: ['alert'],
          suggest: rowsOf(endpoints.listAlerts, { params: { workspace: 'me' } }, ({ id, kind, state }) => ({
            value: id,
            meaning: `${kind}, ${state}`,
          })),
        },
        load: async () => (await import('../commands/alerts.ts')).listAlertsCommand,
      },
      add: {
        summary: 'Add an alert.',
        endpoint: [endpoints.putAlert, endpoints.getAlert, endpoints.previewAlert],
        load: async () => (await import('../commands/alerts.ts')).addAlertCommand,
      },
      show: {
        summary: 'Show an alert, or when it would have fired.',
        endpoint: [endpoints.getAlert, endpoints.previewAlert],
        load: async () => (await import('../commands/alerts.ts')).showAlertCommand,
      },
      update: {
        summary: 'Change an alert or its web hook.',
        endpoint: [endpoints.getAlert, endpoints.putAlert],
        load: async () => (await import('../commands/alerts.ts')).updateAlertCommand,
      },
      remove: {
        summary: 'Remove an alert.',
        endpoint: endpoints.deleteAlert,
        load: async () => (await import('../commands/alerts.ts')).removeAlertCommand,
      },
      test: {
        summary: 'Send a test message to a web hook.',
        endpoint: endpoints.testAlert,
        load: async () => (await import('../commands/alerts.ts')).testAlertCommand,
      },
      fired: {
        summary: 'List when alerts fired.',
        endpoint: endpoints.listFirings,
        load: async () => (await import('../commands/alerts.ts')).firedAlertsCommand,
      },
      watch: {
        summary: 'Follow alerts, and run a command for each event.',
        load: async () => (await import('../commands/watch-alerts.ts')).watchAlertsCommand,
      },
    },
  },
  'provider-keys': {
    summary: "Manage a workspace's own provider keys.",
    alone: 'list',
    verbs: {
      set: {
        summary: 'Add or replace a provider key.',
        endpoint: [endpoints.putProviderKey, endpoints.putNamedProviderKey],
        load: async () => (await import('../commands/provider-keys.ts')).setProviderKeyCommand,
      },
      list: {
        summary: 'List provider keys by fingerprint.',
        endpoint: endpoints.listProviderKeys,
        load: async () => (await import('../commands/provider-keys.ts')).listProviderKeysCommand,
      },
      delete: {
        summary: 'Delete a provider key.',
        endpoint: [endpoints.deleteProviderKey, endpoints.deleteNamedProviderKey],
        load: async () => (await import('../commands/provider-keys.ts')).deleteProviderKeyCommand,
      },
      check: {
        summary: 'Check that the provider accepts the key.',
        endpoint: [endpoints.checkProviderKey, endpoints.checkNamedProviderKey],
        load: async () => (await import('../commands/provider-keys.ts')).checkProviderKeyCommand,
      },
    },
  },
  vault: {
    summary: 'Manage the vault that encrypts provider keys.',
    alone: 'status',
    verbs: {
      status: {
        summary: 'Show whether the vault is unlocked and where its master key is stored.',
        endpoint: endpoints.getVault,
        load: async () => (await import('../commands/vault.ts')).vaultStatusCommand,
      },
      unlock: {
        summary: 'Unlock the vault with the keychain, a passphrase or an exported key.',
        endpoint: endpoints.unlockVault,
        load: async () => (await import('../commands/vault.ts')).unlockVaultCommand,
      },
      rotate: {
        summary: 'Re-encrypt all secrets under a new master key.',
        endpoint: endpoints.rotateVault,
        load: async () => (await import('../commands/vault.ts')).rotateVaultCommand,
      },
      export: {
        summary: 'Print the master key, to keep on paper.',
        endpoint: endpoints.exportVault,
        load: async () => (await import('../commands/vault.ts')).exportVaultCommand,
      },
    },
  },
};
