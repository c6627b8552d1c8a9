import type { Noun, Verb } from './verb.ts';

/** Hosts, the people on them, and their workspaces. */
export const peopleCommands: Record<string, Verb | Noun> = {
  login: {
    summary: 'Log in to a host with a code.',
    load: async () => (await import('../commands/login.ts')).loginCommand,
  },
  logout: {
    summary: 'Log out of a host.',
    load: async () => (await import('../commands/login.ts')).logoutCommand,
  },
  whoami: {
    summary: 'Show who is logged in, and where.',
    load: async () => (await import('../commands/whoami.ts')).whoamiCommand,
  },
  host: {
    summary: 'The hosts that commands can speak to.',
    alone: 'list',
    verbs: {
      add: {
        summary: 'Name a host.',
        load: async () => (await import('../commands/host.ts')).addHostCommand,
      },
      use: {
        summary: 'Speak to a host from now on.',
        load: async () => (await import('../commands/host.ts')).useHostCommand,
      },
      list: {
        summary: 'List the hosts that have a name here.',
        load: async () => (await import('../commands/host.ts')).listHostsCommand,
      },
      remove: {
        summary: 'Log out of a host and forget it.',
        load: async () => (await import('../commands/host.ts')).removeHostCommand,
      },
    },
  },
  sessions: {
    summary: 'Your logins on a host.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List your logins.',
        load: async () => (await import('../commands/sessions.ts')).listSessionsCommand,
      },
      revoke: {
        summary: 'End one of your logins.',
        load: async () => (await import('../commands/sessions.ts')).revokeSessionCommand,
      },
    },
  },
  users: {
    summary: 'The people of a host, for whoever runs it.',
    alone: 'list',
    verbs: {
      add: {
        summary: 'Add a user, with a code to log in.',
        load: async () => (await import('../commands/users.ts')).addUserCommand,
      },
      list: {
        summary: 'List the users.',
        load: async () => (await import('../commands/users.ts')).listUsersCommand,
      },
      'login-code': {
        summary: 'Make a code to log in, for a user or yourself.',
        load: async () => (await import('../commands/users.ts')).loginCodeCommand,
      },
    },
  },
  workspaces: {
    summary: 'Workspaces and who belongs to them.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create a workspace.',
        load: async () => (await import('../commands/workspaces.ts')).createWorkspaceCommand,
      },
      list: {
        summary: 'List your workspaces.',
        load: async () => (await import('../commands/workspaces.ts')).listWorkspacesCommand,
      },
      show: {
        summary: 'Show a workspace.',
        load: async () => (await import('../commands/workspaces.ts')).showWorkspaceCommand,
      },
      set: {
        summary: 'Change a workspace.',
        load: async () => (await import('../commands/workspaces.ts')).setWorkspaceCommand,
      },
      use: {
        summary: 'Act in a workspace from now on.',
        load: async () => (await import('../commands/workspaces.ts')).useWorkspaceCommand,
      },
      members: {
        summary: 'List the members.',
        load: async () => (await import('../commands/workspaces.ts')).membersCommand,
      },
      role: {
        summary: 'Change what a member is.',
        load: async () => (await import('../commands/workspaces.ts')).roleCommand,
      },
      remove: {
        summary: 'Take a member out.',
        load: async () => (await import('../commands/workspaces.ts')).removeMemberCommand,
      },
      invite: {
        summary: 'Make a code that lets somebody join.',
        load: async () => (await import('../commands/workspaces.ts')).inviteCommand,
      },
      invitations: {
        summary: 'List the invitations.',
        load: async () => (await import('../commands/workspaces.ts')).invitationsCommand,
      },
      uninvite: {
        summary: 'Revoke an invitation.',
        load: async () => (await import('../commands/workspaces.ts')).uninviteCommand,
      },
      accept: {
        summary: 'Join a workspace with a code.',
        load: async () => (await import('../commands/workspaces.ts')).acceptCommand,
      },
      leave: {
        summary: 'Leave a workspace.',
        load: async () => (await import('../commands/workspaces.ts')).leaveCommand,
      },
    },
  },
  profile: {
    summary: 'You, as others see you.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show your profile.',
        load: async () => (await import('../commands/profile.ts')).showProfileCommand,
      },
      set: {
        summary: 'Change your profile.',
        load: async () => (await import('../commands/profile.ts')).setProfileCommand,
      },
      delete: {
        summary: 'Delete yourself from this host.',
        load: async () => (await import('../commands/profile.ts')).deleteProfileCommand,
      },
    },
  },
  tokens: {
    summary: 'Access tokens: they call the site API for you.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Make an access token.',
        load: async () => (await import('../commands/tokens.ts')).createTokenCommand,
      },
      list: {
        summary: 'List your access tokens.',
        load: async () => (await import('../commands/tokens.ts')).listTokensCommand,
      },
      revoke: {
        summary: 'Revoke access tokens.',
        load: async () => (await import('../commands/tokens.ts')).revokeTokenCommand,
      },
    },
  },
};
