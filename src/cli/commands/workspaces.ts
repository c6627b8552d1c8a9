import { Argument, Command, Option } from '@commander-js/extra-typings';
import type { Result } from '../../shared/contract/endpoint.ts';
import type {
  createInvitation as createInvitationContract,
  Invitation,
  Member,
  Workspace,
} from '../../shared/contract/workspaces.ts';
import {
  acceptInvitation,
  createInvitation,
  createWorkspace,
  getWorkspace,
  listInvitations,
  listMembers,
  listWorkspaces,
  removeMember,
  revokeInvitation,
  updateMember,
  updateWorkspace,
} from '../../shared/endpoints.ts';
import { exitCodes } from '../../shared/errors.ts';
import { ago } from '../../view/durations.ts';
import type { Context } from '../context.ts';
import { CliError, usageError } from '../failures/cli-error.ts';
import { changeHostFile, localName } from '../hosts/host-file.ts';
import { collectPages } from '../hosts/pages.ts';
import { resolveMember, resolveWorkspace } from '../names/resolve.ts';
import { example, wholeNumber, yesOption } from '../options.ts';
import type { Column } from '../output/table.ts';
import { confirm, readCode } from '../terminal/prompts.ts';

export const createWorkspaceCommand = (context: Context) =>
  new Command('create')
    .argument('<name>', 'its display name')
    .option('--slug <slug>', 'its short name for commands (default: from the name)')
    .option('--use', 'make it the workspace in use')
    .addHelpText('after', example('gateway workspaces create "Research" --use'))
    .action(async (name, { slug, use }) => {
      const made = await context.client().call(createWorkspace, { body: { name, slug } });
      if (use) setWorkspaceInUse(context, made.id);
      await context.out.record(made, workspaceColumns(context.now()));
    });

export const listWorkspacesCommand = (context: Context) =>
  new Command('list')
    .option('--limit <count>', 'maximum number to list, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway workspaces list --json=slug,role'))
    .action(async ({ limit }) => {
      // Without the workspace in use, which the user may have left.
      const client = context.clientFor({ ...context.host(), workspace: undefined });
      const found = await collectPages(limit, (page) => client.call(listWorkspaces, { query: page }));
      await context.out.table(found, workspaceColumns(context.now()), { empty: 'No workspaces.' });
    });

export const showWorkspaceCommand = (context: Context) =>
  new Command('show')
    .argument('[workspace]', 'its id, slug or name (default: the workspace in use)', 'me')
    .addHelpText('after', example('gateway workspaces show research'))
    .action(async (given) => {
      const params = { workspace: await resolveWorkspace(context, given) };
      const found = await context.client().call(getWorkspace, { params });
      await context.out.record(found, workspaceColumns(context.now()));
    });

export const setWorkspaceCommand = (context: Context) =>
  new Command('set')
    .argument('[workspace]', 'its id, slug or name (default: the workspace in use)', 'me')
    .option('--name <name>', 'its display name')
    .option('--slug <slug>', 'its short name for commands')
    .addOption(
      new Option('--members-may-issue-keys <yes|no>', 'whether members may issue API keys').choices([
        'yes',
        'no',
      ] as const),
    )
    .addHelpText('after', example('gateway workspaces set research --members-may-issue-keys yes'))
    .action(async (given, { name, slug, membersMayIssueKeys: may }) => {
      if (name === undefined && slug === undefined && may === undefined) {
        throw new CliError('Nothing to change: give at least one option.', { exit: exitCodes.usage });
      }
      const body = { name, slug, members_may_issue_keys: may === undefined ? undefined : may === 'yes' };
      const params = { workspace: await resolveWorkspace(context, given) };
      const changed = await context.client().call(updateWorkspace, { params, body });
      await context.out.record(changed, workspaceColumns(context.now()));
    });

export const useWorkspaceCommand = (context: Context) =>
  new Command('use')
    .argument('<workspace>', 'the id, slug or name of the workspace to use; me is your own')
    .addHelpText('after', example('gateway workspaces use research'))
    .action((workspace) => switchWorkspace(context, workspace));

async function switchWorkspace(context: Context, reference: string): Promise<void> {
  // Without the workspace in use, which the user may have left.
  const client = context.clientFor({ ...context.host(), workspace: undefined });
  const params = { workspace: await resolveWorkspace(context, reference) };
  const workspace = await client.call(getWorkspace, { params });
  setWorkspaceInUse(context, reference === 'me' ? null : workspace.id);
  if (context.out.wantsJson()) await context.out.document(workspace);
  context.out.note(`Commands now act in ${workspace.slug}.`);
  if (context.env.GATEWAY_WORKSPACE) context.out.warn('GATEWAY_WORKSPACE is set and takes precedence.');
}

/** Stores the workspace to act in for the current host; null for the caller's own. */
function setWorkspaceInUse(context: Context, workspaceId: string | null): void {
  const { name } = context.host();
  changeHostFile(context, (file) => {
    const entry = name === undefined ? undefined : file.hosts[name];
    if (entry) entry.workspace = workspaceId;
    else if (name === localName) file.localWorkspace = workspaceId;
    else {
      throw usageError(
        'Only a configured host can have a workspace in use.',
        'Add it with gateway host add NAME URL, or set GATEWAY_WORKSPACE.',
      );
    }
  });
}

export const membersCommand = (context: Context) =>
  new Command('members')
    .argument('[workspace]', 'its id, slug or name (default: the workspace in use)', 'me')
    .option('--limit <count>', 'maximum number to list, oldest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway workspaces members research'))
    .action(async (given, { limit }) => {
      const params = { workspace: await resolveWorkspace(context, given) };
      const members = await collectPages(limit, (query) =>
        context.client().call(listMembers, { params, query }),
      );
      await context.out.table(members, memberColumns(context.now()), { empty: 'No members.' });
    });

export const roleCommand = (context: Context) =>
  new Command('role')
    .argument('<member>', 'the id, handle or name of a member')
    .addArgument(new Argument('<role>', 'their new role').choices(roles))
    .addOption(workspaceOption())
    .addHelpText('after', example('gateway workspaces role ann admin'))
    .action(async (member, role, options) => {
      const params = await memberParams(context, member, options.workspace);
      const changed = await context.client().call(updateMember, { params, body: { role } });
      await context.out.record(changed, memberColumns(context.now()));
    });

export const removeMemberCommand = (context: Context) =>
  new Command('remove')
    .argument('<member>', 'the id, handle or name of a member')
    .addOption(workspaceOption())
    .addOption(yesOption())
    .addHelpText('after', example('gateway workspaces remove ann --yes'))
    .action(async (user, { workspace, yes }) => {
      await confirm(context, `Remove ${user} from the workspace? Their keys there pass to its owner.`, {
        yes,
      });
      const params = await memberParams(context, user, workspace);
      const removed = await context.client().call(removeMember, { params });
      return context.out.done(removed, `Removed ${user}.`);
    });

async function memberParams(
  context: Context,
  member: string,
  reference: string,
): Promise<{ workspace: string; user: string }> {
  const workspace = await resolveWorkspace(context, reference);
  return { workspace, user: await resolveMember(context, workspace, member) };
}

export const inviteCommand = (context: Context) =>
  new Command('invite')
    .addOption(
      new Option('--role <role>', 'the role of the new member').choices(roles).default('member' as const),
    )
    .option('--note <note>', 'a note for the list of invitations')
    .addOption(workspaceOption())
    .addHelpText('after', example('gateway workspaces invite --role admin --note "for Ann"'))
    .action(async ({ role, note, workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace) };
      const made = await context.client().call(createInvitation, { params, body: { role, note } });
      await context.out.record(made, columns(context.now()), { pipedRow: [id, code], shownOnce: code });
      context.out.note('One user of this host can join with it: gateway workspaces accept');
    });

type Made = Column<Result<typeof createInvitationContract>>;

const id: Made = { title: 'id', value: ({ invitation }) => invitation.id };
const code: Made = { title: 'code', value: (made) => made.code, style: () => 'bold', essential: true };

const columns = (now: number): Made[] => [
  id,
  { title: 'role', value: ({ invitation }) => invitation.role },
  code,
  {
    title: 'expires_at',
    value: ({ invitation }) => invitation.expires_at,
    show: ({ invitation }) => ago(invitation.expires_at, now),
  },
];

export const invitationsCommand = (context: Context) =>
  new Command('invitations')
    .argument('[workspace]', 'its id, slug or name (default: the workspace in use)', 'me')
    .option('--limit <count>', 'maximum number to list, newest first', wholeNumber({ min: 1 }), 1000)
    .addHelpText('after', example('gateway workspaces invitations research'))
    .action(async (given, { limit }) => {
      const params = { workspace: await resolveWorkspace(context, given) };
      const found = await collectPages(limit, (query) =>
        context.client().call(listInvitations, { params, query }),
      );
      await context.out.table(found, invitationColumns(context.now()), { empty: 'No invitations.' });
    });

export const uninviteCommand = (context: Context) =>
  new Command('uninvite')
    .argument('<invitation>', 'the id of an open invitation, invite_…')
    .addOption(workspaceOption())
    .addHelpText('after', example('gateway workspaces uninvite invite_01jd…'))
    .action(async (invitation, { workspace }) => {
      const params = { workspace: await resolveWorkspace(context, workspace), invitation };
      const revoked = await context.client().call(revokeInvitation, { params });
      return context.out.done(revoked, `Revoked ${invitation}.`);
    });

export const acceptCommand = (context: Context) =>
  new Command('accept')
    .option('--code-from-env <variable>', 'read the code from this environment variable')
    .option('--use', 'make it the workspace in use')
    .addHelpText('after', example('echo "$CODE" | gateway workspaces accept --use'))
    .action(async ({ codeFromEnv: fromEnv, use }) => {
      const code = await readCode(context, { question: 'Invitation code', fromEnv });
      const joined = await context.client().call(acceptInvitation, { body: { code } });
      if (use) setWorkspaceInUse(context, joined.id);
      await context.out.record(joined, workspaceColumns(context.now()));
    });

export const leaveCommand = (context: Context) =>
  new Command('leave')
    .argument('<workspace>', 'its id, slug or name')
    .addOption(yesOption())
    .addHelpText('after', example('gateway workspaces leave research --yes'))
    .action((workspace, { yes }) => leave(context, workspace, { yes }));

export async function leave(
  context: Context,
  reference: string,
  { yes }: { yes?: true | undefined },
): Promise<void> {
  const workspace = await resolveWorkspace(context, reference);
  const { id, slug } = await context.client().call(getWorkspace, { params: { workspace } });
  await confirm(context, `Leave ${slug}? Your keys there pass to its owner.`, { yes });
  const params = { workspace: id, user: 'me' };
  const left = await context.client().call(removeMember, { params });
  // Commands can no longer act in this workspace.
  if (context.host().workspace === id && !context.env.GATEWAY_WORKSPACE) setWorkspaceInUse(context, null);
  return context.out.done(left, `You have left ${slug}.`);
}

const workspaceColumns = (now: number): Column<Workspace>[] => [
  { title: 'id', value: ({ id }) => id, isSpare: true },
  { title: 'slug', value: ({ slug }) => slug, essential: true },
  { title: 'name', value: ({ name }) => name },
  { title: 'role', value: ({ role }) => role },
  { title: 'members_may_issue_keys', value: (workspace) => workspace.members_may_issue_keys, isSpare: true },
  {
    title: 'created_at',
    value: (workspace) => workspace.created_at,
    show: (workspace) => ago(workspace.created_at, now),
    isSpare: true,
  },
];

const memberColumns = (now: number): Column<Member>[] => [
  { title: 'id', value: ({ user }) => user.id, isSpare: true },
  { title: 'handle', value: ({ user }) => user.handle, essential: true },
  { title: 'name', value: ({ user }) => user.name },
  { title: 'role', value: ({ role }) => role },
  { title: 'joined', value: (member) => member.joined_at, show: (member) => ago(member.joined_at, now) },
];

const invitationColumns = (now: number): Column<Invitation>[] => [
  { title: 'id', value: ({ id }) => id },
  { title: 'role', value: ({ role }) => role },
  { title: 'note', value: ({ note }) => note, show: ({ note }) => note ?? '' },
  {
    title: 'status',
    value: ({ status }) => status,
    style: ({ status }) => (status === 'open' ? 'green' : 'dim'),
  },
  {
    title: 'expires',
    value: (invitation) => invitation.expires_at,
    show: (invitation) => ago(invitation.expires_at, now),
    isSpare: true,
  },
];

export const roles = ['owner', 'admin', 'member'] as const;

const workspaceOption = () =>
  new Option('--workspace <workspace>', 'the id, slug or name of the workspace').default('me');
