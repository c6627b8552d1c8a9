import { useSignal } from '@preact/signals';
import type { Invitation, Member, Workspace } from '../../../shared/contract/workspaces.ts';
import {
  createInvitation,
  listInvitations,
  listMembers,
  removeMember,
  revokeInvitation,
  updateMember,
} from '../../../shared/endpoints.ts';
import { change, useList } from '../../data/query.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Secret } from '../../parts/secret.tsx';
import { Select } from '../../parts/select.tsx';
import { actions } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { Typed } from '../../parts/typed.tsx';

type Role = Member['role'];

const roles: readonly { value: Role; title: string }[] = [
  { value: 'member', title: 'member' },
  { value: 'admin', title: 'admin' },
  { value: 'owner', title: 'owner' },
];

interface MembersProps {
  workspace: Pick<Workspace, 'id' | 'name' | 'role'>;
  /** The id of the user. */
  own: string;
}

/** Who may use the workspace, and who is invited to. */
export function Members({ workspace, own }: MembersProps) {
  const { id, name, role } = workspace;
  const mayManage = role !== 'member';
  const members = useList(listMembers, { params: { workspace: id }, query: {} });
  const invitations = useList(mayManage ? listInvitations : undefined, {
    params: { workspace: id },
    query: {},
  });
  const open = (invitations.data?.data ?? []).filter(({ status }) => status === 'open');
  const rows: (Member | Invitation)[] = [...(members.data?.data ?? []), ...open];
  return (
    <Panel
      title={`Members of ${name}`}
      queries={[members]}
      {...(mayManage && {
        action: {
          label: 'Invite',
          dialog: (close: () => void) => <Invite workspace={id} role={role} onClose={close} />,
        },
      })}
    >
      <DataTable
        name="members"
        columns={[
          { name: 'Member', value: (row) => ('user' in row ? row.user.handle : null) },
          { name: 'Role', value: ({ role: given }) => given },
          { name: 'Since', value: (row) => Date.parse('user' in row ? row.joined_at : row.created_at) },
          actions,
        ]}
        rows={rows}
      >
        {(row) =>
          'user' in row ? (
            <MemberRow
              key={row.user.id}
              member={row}
              workspace={id}
              isOwn={row.user.id === own}
              // Admins change neither owners, nor who is one.
              mayChange={role === 'owner' || (role === 'admin' && row.role !== 'owner')}
              choices={role === 'owner' ? roles : roles.filter(({ value }) => value !== 'owner')}
            />
          ) : (
            <InvitationRow key={row.id} invitation={row} workspace={id} />
          )
        }
      </DataTable>
    </Panel>
  );
}

interface MemberRowProps {
  member: Member;
  workspace: string;
  isOwn: boolean;
  mayChange: boolean;
  choices: typeof roles;
}

function MemberRow({ member, workspace, isOwn, mayChange, choices }: MemberRowProps) {
  const { user, role, joined_at: joined } = member;
  const params = { workspace, user: user.id };
  const failure = useSignal('');
  const setRole = async (next: Role) => {
    failure.value = '';
    try {
      await change(updateMember, { params, body: { role: next } });
      toast(`${user.handle} is ${next} now.`);
    } catch (error) {
      failure.value = error instanceof Error ? error.message : String(error);
    }
  };
  return (
    <tr>
      <th scope="row" class="is-title wrap">
        {user.handle}
        {user.name !== user.handle && <span class="quiet sub">{user.name}</span>}
      </th>
      <td>
        {mayChange ? (
          <Select
            label={`Role of ${user.handle}`}
            isLabelHidden
            options={choices}
            value={role}
            onChange={(next) => void setRole(next)}
          />
        ) : (
          role
        )}
        {failure.value && (
          <span class="field-fault sub" role="alert">
            {failure.value}
          </span>
        )}
      </td>
      <td class="quiet">
        <Time at={joined} />
      </td>
      <td>
        {(mayChange || isOwn) && (
          <span class="row-actions">
            <ConfirmButton
              label={isOwn ? 'Leave' : 'Remove'}
              title={isOwn ? 'Leave the workspace' : `Remove ${user.handle}`}
              question={isOwn ? 'Leave the workspace?' : `Remove ${user.handle}?`}
              onConfirm={async () => {
                await change(removeMember, { params });
                toast(isOwn ? 'You left the workspace.' : `${user.handle} was removed.`);
              }}
            >
              <p>
                {isOwn ? 'Your' : 'Their'} access ends immediately, also of running streams. API keys that{' '}
                {isOwn ? 'you' : 'they'} issued pass to the owner of the workspace and keep working.
              </p>
            </ConfirmButton>
          </span>
        )}
      </td>
    </tr>
  );
}

function InvitationRow({ invitation, workspace }: { invitation: Invitation; workspace: string }) {
  const { id, role, note, expires_at: expires } = invitation;
  return (
    <tr class="is-ended">
      <th scope="row" class="is-title wrap">
        {note ?? 'Someone'} <span class="sub">is invited</span>
      </th>
      <td>{role}</td>
      <td>
        until <Time at={expires} />
      </td>
      <td>
        <span class="row-actions">
          <ConfirmButton
            label="Revoke"
            title={`Revoke the invitation of ${note ?? 'someone'}`}
            question="Revoke the invitation?"
            onConfirm={async () => {
              await change(revokeInvitation, { params: { workspace, invitation: id } });
              toast('The invitation was revoked.');
            }}
          >
            <p>Its code no longer lets anyone join.</p>
          </ConfirmButton>
        </span>
      </td>
    </tr>
  );
}

function Invite({ workspace, role, onClose }: { workspace: string; role: Role; onClose: () => void }) {
  const code = useSignal<string | undefined>(undefined);
  if (code.value !== undefined)
    return (
      <Dialog key="code" title="The invitation" onClose={onClose}>
        <p>
          Whoever has a login on this host joins with this code within seven days: under Setup, or with{' '}
          <Typed>gateway workspaces accept</Typed>.
        </p>
        <Secret secret={code.value} onDone={onClose} />
      </Dialog>
    );
  return (
    <Dialog key="form" title="Invite to the workspace" onClose={onClose}>
      <Form<'note' | 'role'>
        fields={[
          {
            name: 'note',
            label: 'For whom',
            placeholder: 'Ann',
            maxLength: 100,
            hint: 'A note for the list.',
          },
          {
            name: 'role',
            label: 'Role',
            kind: 'choice',
            value: 'member',
            options: role === 'owner' ? roles : roles.filter(({ value }) => value !== 'owner'),
          },
        ]}
        action="Invite"
        onCancel={onClose}
        onSubmit={async (values) => {
          const note = values.note.trim();
          const made = await change(createInvitation, {
            params: { workspace },
            body: { role: values.role as Role, ...(note && { note }) },
          });
          code.value = made.code;
        }}
      />
    </Dialog>
  );
}
