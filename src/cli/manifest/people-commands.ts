import * as endpoints from '../../shared/endpoints.ts';
import { localName, readHostFile } from '../hosts/host-file.ts';
import { type CommandEntry, type NounEntry, rowsOf } from './entry.ts';

/** Hosts, the people on them, and their workspaces. */
export const peopleCommands: Record<string, CommandEntry | NounEntry> = {
  login: {
    summary: 'Log in to a host with a code.',
    load: async () => (await import('../commands/login.ts')).loginCommand,
  },
  logout: {
    summary: 'Log out of a host.',
    load: async () => (await import('../commands/login.ts')).logoutCommand,
  },
  whoami: {
    summary: 'Show the current user and host.',
    endpoint: endpoints.getSession,
    load: async () => (await import('../commands/whoami.ts')).whoamiCommand,
  },
  host: {
    summary: 'Manage the hosts that commands connect to.',
    alone: 'list',
    verbs: {
      add: {
        summary: 'Add a host under a name.',
        load: async () => (await import('../commands/host.ts')).addHostCommand,
      },
      use: {
        summary: 'Set the host that commands connect to.',
        load: async () => (await import('../commands/host.ts')).useHostCommand,
      },
      list: {
        summary: 'List the configured hosts.',
        lists: {
          completes: ['host'],
          suggest: (context) => [
            { value: localName, meaning: 'the daemon on this machine' },
            ...Object.entries(readHostFile(context).hosts).map(([value, { url }]) => ({
              value,
              meaning: url,
            })),
          ],
        },
        load: async () => (await import('../commands/host.ts')).listHostsCommand,
      },
      remove: {
        summary: 'Log out of a host and remove it.',
        load: async () => (await import('../commands/host.ts')).removeHostCommand,
      },
    },
  },
  sessions: {
    summary: 'Manage your logins on a host.',
    alone: 'list',
    verbs: {
      list: {
        summary: 'List your logins.',
        endpoint: endpoints.listSessions,
        lists: {
          completes: ['session'],
          suggest: rowsOf(endpoints.listSessions, { query: { limit: 100 } }, ({ id, name }) => ({
            value: id,
            meaning: name,
          })),
        },
        load: async () => (await import('../commands/sessions.ts')).listSessionsCommand,
      },
      revoke: {
        summary: 'Revoke one of your logins.',
        endpoint: endpoints.deleteSession,
        load: async () => (await import('../commands/sessions.ts')).revokeSessionCommand,
      },
    },
  },
  users: {
    summary: "Manage a host's users (admin).",
    alone: 'list',
    verbs: {
      add: {
        summary: 'Add a user and print a login code for them.',
        endpoint: endpoints.addUser,
        load: async () => (await import('../commands/users.ts')).addUserCommand,
      },
      list: {
        summary: 'List the users.',
        endpoint: endpoints.listUsers,
        lists: {
          completes: ['user'],
          suggest: rowsOf(endpoints.listUsers, { query: { limit: 100 } }, ({ handle, name }) => ({
            value: handle,
            meaning: name,
          })),
        },
        load: async () => (await import('../commands/users.ts')).listUsersCommand,
      },
      'login-code': {
        summary: 'Create a login code for a user or yourself.',
        endpoint: endpoints.createLoginCode,
        load: async () => (await import('../commands/users.ts')).loginCodeCommand,
      },
    },
  },
  workspaces: {
    summary: 'Manage workspaces and their members.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create a workspace.',
        endpoint: endpoints.createWorkspace,
        load: async () => (await import('../commands/workspaces.ts')).createWorkspaceCommand,
      },
      list: {
        summary: 'List your workspaces.',
        endpoint: endpoints.listWorkspaces,
        lists: {
          completes: ['workspace'],
          suggest: rowsOf(endpoints.listWorkspaces, { query: { limit: 100 } }, ({ slug, name }) => ({
            value: slug,
            meaning: name,
          })),
        },
        load: async () => (await import('../commands/workspaces.ts')).listWorkspacesCommand,
      },
      show: {
        summary: 'Show a workspace.',
        endpoint: endpoints.getWorkspace,
        load: async () => (await import('../commands/workspaces.ts')).showWorkspaceCommand,
      },
      set: {
        summary: "Change a workspace's name, slug or settings.",
        endpoint: endpoints.updateWorkspace,
        load: async () => (await import('../commands/workspaces.ts')).setWorkspaceCommand,
      },
      use: {
        summary: 'Set the workspace that commands act in.',
        load: async () => (await import('../commands/workspaces.ts')).useWorkspaceCommand,
      },
      members: {
        summary: 'List the members of a workspace.',
        endpoint: endpoints.listMembers,
        lists: {
          completes: ['member'],
          suggest: rowsOf(
            endpoints.listMembers,
            { params: { workspace: 'me' }, query: { limit: 100 } },
            ({ user }) => ({
              value: user.handle,
              meaning: user.name,
            }),
          ),
        },
        load: async () => (await import('../commands/workspaces.ts')).membersCommand,
      },
      role: {
        summary: "Change a member's role.",
        endpoint: endpoints.updateMember,
        load: async () => (await import('../commands/workspaces.ts')).roleCommand,
      },
      remove: {
        summary: 'Remove a member.',
        endpoint: endpoints.removeMember,
        load: async () => (await import('../commands/workspaces.ts')).removeMemberCommand,
      },
      invite: {
        summary: 'Create a code for joining the workspace.',
        endpoint: endpoints.createInvitation,
        load: async () => (await import('../commands/workspaces.ts')).inviteCommand,
      },
      invitations: {
        summary: 'List the invitations.',
        endpoint: endpoints.listInvitations,
        lists: {
          completes: ['invitation'],
          suggest: rowsOf(
            endpoints.listInvitations,
            { params: { workspace: 'me' } },
            ({ id, note, status }) =>
              status === 'open' ? { value: id, meaning: note ?? undefined } : undefined,
          ),
        },
        load: async () => (await import('../commands/workspaces.ts')).invitationsCommand,
      },
      uninvite: {
        summary: 'Revoke an invitation.',
        endpoint: endpoints.revokeInvitation,
        load: async () => (await import('../commands/workspaces.ts')).uninviteCommand,
      },
      accept: {
        summary: 'Join a workspace with an invitation code.',
        endpoint: endpoints.acceptInvitation,
        load: async () => (await import('../commands/workspaces.ts')).acceptCommand,
      },
      leave: {
        summary: 'Leave a workspace.',
        load: async () => (await import('../commands/workspaces.ts')).leaveCommand,
      },
    },
  },
  profile: {
    summary: 'View and edit your profile.',
    alone: 'show',
    verbs: {
      show: {
        summary: 'Show your profile.',
        endpoint: endpoints.getMe,
        load: async () => (await import('../commands/profile.ts')).showProfileCommand,
      },
      set: {
        summary: 'Change your profile.',
        endpoint: endpoints.updateProfile,
        options: ['name', 'email', 'avatar', 'handle'],
        load: async () => (await import('../commands/profile.ts')).setProfileCommand,
      },
      delete: {
        summary: 'Delete your account on this host.',
        endpoint: endpoints.deleteProfile,
        load: async () => (await import('../commands/profile.ts')).deleteProfileCommand,
      },
    },
  },
  agents: {
    summary: 'Sign up as an agent and show its free tier.',
    verbs: {
      'sign-up': {
        summary: 'Sign up an agent by solving a challenge.',
        endpoint: endpoints.createAgent,
        load: async () => (await import('../commands/agents.ts')).signUpCommand,
      },
      me: {
        summary: 'Show the calling agent: balance, free tier and calls today.',
        endpoint: endpoints.getAgent,
        load: async () => (await import('../commands/agents.ts')).showAgentCommand,
      },
    },
  },
  tokens: {
    summary: 'Manage access tokens for the site API.',
    alone: 'list',
    verbs: {
      create: {
        summary: 'Create an access token.',
        endpoint: endpoints.createToken,
        load: async () => (await import('../commands/tokens.ts')).createTokenCommand,
      },
      list: {
        summary: 'List your access tokens.',
        endpoint: endpoints.listTokens,
        lists: {
          completes: ['token'],
          suggest: rowsOf(endpoints.listTokens, {}, ({ id, name }) => ({ value: id, meaning: name })),
        },
        load: async () => (await import('../commands/tokens.ts')).listTokensCommand,
      },
      revoke: {
        summary: 'Revoke access tokens.',
        endpoint: endpoints.revokeToken,
        load: async () => (await import('../commands/tokens.ts')).revokeTokenCommand,
      },
    },
  },
};
