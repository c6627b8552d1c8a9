import { keyCommands, moneyCommands } from './key-commands.ts';
import type { Noun, Verb } from './verb.ts';

/** Every command, in the order of the help. */
export const tree: Record<string, Verb | Noun> = {
  serve: {
    summary: 'Run the daemon in this terminal.',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
    isPlain: true,
  },
  status: {
    summary: 'Show how the daemon is doing.',
    load: async () => (await import('./commands/status.ts')).statusCommand,
  },
  stop: {
    summary: 'Stop the daemon once running calls are done.',
    load: async () => (await import('./commands/stop.ts')).stopCommand,
  },
  doctor: {
    summary: 'Look for what keeps Gateway from working, with the remedy.',
    load: async () => (await import('./commands/doctor.ts')).doctorCommand,
  },
  respond: {
    summary: 'Ask a model.',
    load: async () => (await import('./commands/respond.ts')).respondCommand,
  },
  responses: {
    summary: 'Stored responses.',
    verbs: {
      get: {
        summary: 'Show a stored response.',
        load: async () => (await import('./commands/responses/get.ts')).getResponseCommand,
      },
      watch: {
        summary: 'Follow a background response to its end.',
        load: async () => (await import('./commands/responses/watch.ts')).watchResponseCommand,
      },
      cancel: {
        summary: 'End a background response; what was made is charged.',
        load: async () => (await import('./commands/responses/cancel.ts')).cancelResponseCommand,
      },
      delete: {
        summary: 'Delete a stored response.',
        load: async () => (await import('./commands/responses/delete.ts')).deleteResponseCommand,
      },
    },
  },
  models: {
    summary: 'What can be asked, and for how much.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List the models with their prices.',
        load: async () => (await import('./commands/models/list.ts')).listModelsCommand,
      },
      show: {
        summary: 'Show one model and its providers.',
        load: async () => (await import('./commands/models/show.ts')).showModelCommand,
      },
      refresh: {
        summary: 'Ask the providers which models they have.',
        load: async () => (await import('./commands/models/refresh.ts')).refreshModelsCommand,
      },
    },
  },
  rates: {
    summary: 'Show the rate card: provider price, margin and their sum.',
    load: async () => (await import('./commands/rates.ts')).ratesCommand,
  },
  usage: {
    summary: 'Show what one request took, or sums by day, model or key.',
    load: async () => (await import('./commands/usage.ts')).usageCommand,
  },
  tail: {
    summary: 'Follow the requests as they happen.',
    load: async () => (await import('./commands/tail.ts')).tailCommand,
  },
  ...keyCommands,
  'provider-keys': {
    summary: 'A workspace’s own keys for providers.',
    verbs: {
      set: {
        summary: 'Store a key, or put another in its place.',
        load: async () => (await import('./commands/provider-keys/set.ts')).setProviderKeyCommand,
      },
      list: {
        summary: 'List the keys by provider and fingerprint.',
        load: async () => (await import('./commands/provider-keys/list.ts')).listProviderKeysCommand,
      },
      delete: {
        summary: 'Delete a key.',
        load: async () => (await import('./commands/provider-keys/delete.ts')).deleteProviderKeyCommand,
      },
      check: {
        summary: 'Ask the provider whether it takes the key.',
        load: async () => (await import('./commands/provider-keys/check.ts')).checkProviderKeyCommand,
      },
    },
  },
  vault: {
    summary: 'What seals provider keys.',
    alone: 'status',
    verbs: {
      status: {
        summary: 'Show whether it is open, and where its master key is kept.',
        load: async () => (await import('./commands/vault/status.ts')).vaultStatusCommand,
      },
      unlock: {
        summary: 'Open it: by the keychain, a passphrase or an exported key.',
        load: async () => (await import('./commands/vault/unlock.ts')).unlockVaultCommand,
      },
      rotate: {
        summary: 'Put every secret under a new master key.',
        load: async () => (await import('./commands/vault/rotate.ts')).rotateVaultCommand,
      },
      export: {
        summary: 'Print the master key, to be kept on paper.',
        load: async () => (await import('./commands/vault/export.ts')).exportVaultCommand,
      },
    },
  },
  login: {
    summary: 'Log in to a host with a code.',
    load: async () => (await import('./commands/login.ts')).loginCommand,
  },
  logout: {
    summary: 'Log out of a host.',
    load: async () => (await import('./commands/logout.ts')).logoutCommand,
  },
  whoami: {
    summary: 'Show who is logged in, and where.',
    load: async () => (await import('./commands/whoami.ts')).whoamiCommand,
  },
  host: {
    summary: 'The hosts that commands can speak to.',
    alone: 'list',
    verbs: {
      add: {
        summary: 'Name a host.',
        load: async () => (await import('./commands/host/add.ts')).addHostCommand,
      },
      use: {
        summary: 'Speak to a host from now on.',
        load: async () => (await import('./commands/host/use.ts')).useHostCommand,
      },
      list: {
        summary: 'List the hosts that have a name here.',
        load: async () => (await import('./commands/host/list.ts')).listHostsCommand,
      },
      remove: {
        summary: 'Log out of a host and forget it.',
        load: async () => (await import('./commands/host/remove.ts')).removeHostCommand,
      },
    },
  },
  sessions: {
    summary: 'Your logins on a host.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List your logins.',
        load: async () => (await import('./commands/sessions/list.ts')).listSessionsCommand,
      },
      revoke: {
        summary: 'End one of your logins.',
        load: async () => (await import('./commands/sessions/revoke.ts')).revokeSessionCommand,
      },
    },
  },
  users: {
    summary: 'The people of a host, for whoever runs it.',
    alone: 'list',
    verbs: {
      add: {
        summary: 'Add a user, with a code to log in.',
        load: async () => (await import('./commands/users/add.ts')).addUserCommand,
      },
      list: {
        summary: 'List the users.',
        load: async () => (await import('./commands/users/list.ts')).listUsersCommand,
      },
      'login-code': {
        summary: 'Make a code to log in, for a user or yourself.',
        load: async () => (await import('./commands/users/login-code.ts')).loginCodeCommand,
      },
    },
  },
  workspaces: {
    summary: 'Workspaces and who belongs to them.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create a workspace.',
        load: async () => (await import('./commands/workspaces/create.ts')).createWorkspaceCommand,
      },
      list: {
        summary: 'List your workspaces.',
        load: async () => (await import('./commands/workspaces/list.ts')).listWorkspacesCommand,
      },
      show: {
        summary: 'Show a workspace.',
        load: async () => (await import('./commands/workspaces/show.ts')).showWorkspaceCommand,
      },
      set: {
        summary: 'Change a workspace.',
        load: async () => (await import('./commands/workspaces/set.ts')).setWorkspaceCommand,
      },
      use: {
        summary: 'Act in a workspace from now on.',
        load: async () => (await import('./commands/workspaces/use.ts')).useWorkspaceCommand,
      },
      members: {
        summary: 'List the members.',
        load: async () => (await import('./commands/workspaces/members.ts')).membersCommand,
      },
      role: {
        summary: 'Change what a member is.',
        load: async () => (await import('./commands/workspaces/role.ts')).roleCommand,
      },
      remove: {
        summary: 'Take a member out.',
        load: async () => (await import('./commands/workspaces/remove.ts')).removeMemberCommand,
      },
      invite: {
        summary: 'Make a code that lets somebody join.',
        load: async () => (await import('./commands/workspaces/invite.ts')).inviteCommand,
      },
      invitations: {
        summary: 'List the invitations.',
        load: async () => (await import('./commands/workspaces/invitations.ts')).invitationsCommand,
      },
      uninvite: {
        summary: 'Revoke an invitation.',
        load: async () => (await import('./commands/workspaces/uninvite.ts')).uninviteCommand,
      },
      accept: {
        summary: 'Join a workspace with a code.',
        load: async () => (await import('./commands/workspaces/accept.ts')).acceptCommand,
      },
      leave: {
        summary: 'Leave a workspace.',
        load: async () => (await import('./commands/workspaces/leave.ts')).leaveCommand,
      },
    },
  },
  ...moneyCommands,
  openapi: {
    summary: 'Print the description of the API.',
    load: async () => (await import('./commands/openapi.ts')).openApiCommand,
  },
};
