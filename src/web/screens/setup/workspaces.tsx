import type { Workspace } from '../../../shared/contract/workspaces.ts';
import {
  acceptInvitation,
  createWorkspace,
  listWorkspaces,
  updateWorkspace,
} from '../../../shared/endpoints.ts';
import { change, useList } from '../../data/query.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';

/** The workspaces of the user. */
export function Workspaces() {
  const query = useList(listWorkspaces, { query: {} });
  return (
    <Panel
      title="Workspaces"
      queries={[query]}
      tools={<DialogButton label="Join with a code" dialog={(close) => <Join onClose={close} />} />}
      action={{ label: 'Create a workspace', dialog: (close) => <Create onClose={close} /> }}
    >
      <DataTable
        name="workspaces"
        columns={[
          { name: 'Workspace', value: ({ name }) => name },
          { name: 'Your role', value: ({ role }) => role },
          { name: 'Keys', value: ({ members_may_issue_keys: may }) => (may ? 'members' : 'admins') },
          { name: 'Since', value: ({ created_at: at }) => Date.parse(at) },
          actions,
        ]}
        rows={query.data?.data ?? []}
      >
        {(workspace) => <WorkspaceRow key={workspace.id} workspace={workspace} />}
      </DataTable>
    </Panel>
  );
}

function WorkspaceRow({ workspace }: { workspace: Workspace }) {
  const { name, slug, role, members_may_issue_keys: mayIssue, created_at: created } = workspace;
  return (
    <tr>
      <th scope="row" class="is-title wrap">
        {name}
        <span class="quiet sub">{slug}</span>
      </th>
      <td>{role}</td>
      <td class="quiet">{mayIssue ? 'issued by members, too' : 'issued by owner and admins'}</td>
      <td class="quiet">
        <Time at={created} />
      </td>
      <td>
        {role !== 'member' && (
          <span class="row-actions">
            <DialogButton
              label="Change"
              title={`Change the workspace ${name}`}
              dialog={(close) => <Edit workspace={workspace} onClose={close} />}
            />
          </span>
        )}
      </td>
    </tr>
  );
}

function Create({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Create a workspace" onClose={onClose}>
      <Form<'name'>
        fields={[
          {
            name: 'name',
            label: 'Name',
            placeholder: 'Research',
            isRequired: true,
            maxLength: 100,
            hint: 'Keys, calls, budgets and stored responses belong to a workspace.',
          },
        ]}
        action="Create it"
        onCancel={onClose}
        onSubmit={async ({ name }) => {
          await change(createWorkspace, { body: { name: name.trim() } });
          toast(`The workspace ${name.trim()} was created.`);
          onClose();
        }}
      />
    </Dialog>
  );
}

function Join({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Join a workspace" onClose={onClose}>
      <Form<'code'>
        fields={[{ name: 'code', label: 'Code of the invitation', isRequired: true, maxLength: 64 }]}
        action="Join"
        onCancel={onClose}
        onSubmit={async ({ code }) => {
          const { name } = await change(acceptInvitation, { body: { code: code.trim() } });
          toast(`You joined ${name}.`);
          onClose();
        }}
      />
    </Dialog>
  );
}

function Edit({ workspace, onClose }: { workspace: Workspace; onClose: () => void }) {
  const { id, name, slug, members_may_issue_keys: mayIssue } = workspace;
  return (
    <Dialog title={`The workspace ${name}`} onClose={onClose}>
      <Form<'name' | 'slug' | 'members_may_issue_keys'>
        fields={[
          { name: 'name', label: 'Name', value: name, isRequired: true, maxLength: 100 },
          {
            name: 'slug',
            label: 'Short name',
            value: slug,
            isRequired: true,
            maxLength: 48,
            hint: 'Lowercase letters, digits and dashes; for commands.',
          },
          {
            name: 'members_may_issue_keys',
            label: 'Members may issue API keys',
            kind: 'check',
            value: mayIssue ? 'true' : '',
          },
        ]}
        action="Save"
        onCancel={onClose}
        onSubmit={async (values) => {
          await change(updateWorkspace, {
            params: { workspace: id },
            body: {
              name: values.name.trim(),
              ...(values.slug.trim() !== slug && { slug: values.slug.trim() }),
              members_may_issue_keys: values.members_may_issue_keys === 'true',
            },
          });
          toast('The workspace was changed.');
          onClose();
        }}
      />
    </Dialog>
  );
}
