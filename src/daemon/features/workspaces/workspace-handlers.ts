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
} from '../../../shared/contract/workspaces.ts';
import { type Handler, implement, loginOf } from '../../handler.ts';
import { pageOf, withSecret } from '../../replies.ts';
import { invitations, memberships, permitted } from './memberships.ts';
import type { PeopleNeeds, Standing } from './people.ts';
import { toInvitation, toMember, toWorkspace } from './views.ts';

const view = ({ workspace, role }: Standing) => toWorkspace(workspace, role);

export function workspaceHandlers(needs: PeopleNeeds): Handler[] {
  const { create, list, show, change, members, setRole, remove } = memberships(needs);
  const [ofMembers, ofAdmins] = [permitted(needs, 'member'), permitted(needs, 'admin')];
  return [
    implement(createWorkspace, async ({ caller, body }) =>
      view(await create(loginOf(caller), { name: body.name, slug: body.slug })),
    ),
    implement(listWorkspaces, ({ caller, query }) =>
      pageOf(query, (page) => list(loginOf(caller), page), { view, idOf: ({ workspace }) => workspace.id }),
    ),
    implement(getWorkspace, async ({ caller, params }) =>
      view(await show(loginOf(caller), params.workspace)),
    ),
    implement(
      updateWorkspace,
      async ({ caller, params, body }) => {
        const { name, slug, members_may_issue_keys: membersMayIssueKeys } = body;
        return view(await change(loginOf(caller), params.workspace, { name, slug, membersMayIssueKeys }));
      },
      (call) => ofAdmins(call),
    ),
    implement(
      listMembers,
      ({ caller, params, query }) =>
        pageOf(query, (page) => members(loginOf(caller), params.workspace, page), {
          view: toMember,
          idOf: ({ user }) => user.id,
        }),
      (call) => ofMembers(call),
    ),
    implement(
      updateMember,
      async ({ caller, params, body }) =>
        toMember(await setRole(loginOf(caller), params.workspace, params.user, body.role)),
      (call) => ofAdmins(call),
    ),
    implement(removeMember, async ({ caller, params }) => {
      const id = await remove(loginOf(caller), params.workspace, params.user);
      return { id, object: 'member', deleted: true };
    }),
    ...invitationHandlers(needs),
  ];
}

function invitationHandlers(needs: PeopleNeeds): Handler[] {
  const { create, list, revoke, accept } = invitations(needs);
  const ofAdmins = permitted(needs, 'admin');
  return [
    implement(
      createInvitation,
      async ({ caller, params, body }) => {
        // The body may be left out altogether.
        const wish = { role: body?.role, note: body?.note };
        const { record, code } = await create(loginOf(caller), params.workspace, wish);
        return withSecret<typeof createInvitation>({ invitation: toInvitation(record, needs.now()), code });
      },
      (call) => ofAdmins(call),
    ),
    implement(
      listInvitations,
      ({ caller, params, query }) =>
        pageOf(query, (page) => list(loginOf(caller), params.workspace, page), {
          view: (record) => toInvitation(record, needs.now()),
          idOf: ({ id }) => id,
        }),
      (call) => ofAdmins(call),
    ),
    implement(revokeInvitation, async ({ caller, params }) => {
      await revoke(loginOf(caller), params.workspace, params.invitation);
      return { id: params.invitation, object: 'invitation', deleted: true };
    }),
    implement(acceptInvitation, async ({ caller, body }) => view(await accept(loginOf(caller), body.code))),
  ];
}
