import { useSignal } from '@preact/signals';
import { addUser, createLoginCode, listUsers } from '../../../shared/endpoints.ts';
import { call } from '../../data/api.ts';
import { change, useList } from '../../data/query.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Secret } from '../../parts/secret.tsx';
import { actions } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { Typed } from '../../parts/typed.tsx';

/** The users of the host, for its owner. */
export function Users() {
  const query = useList(listUsers, { query: {} });
  return (
    <Panel
      title="Users of the host"
      queries={[query]}
      action={{ label: 'Add a user', dialog: (close) => <AddUser onClose={close} /> }}
    >
      <DataTable
        name="users"
        columns={[
          { name: 'User', value: ({ handle }) => handle },
          { name: 'Since', value: ({ created_at: at }) => Date.parse(at) },
          actions,
        ]}
        rows={query.data?.data ?? []}
      >
        {({ id, handle, name, created_at: created }) => (
          <tr key={id}>
            <th scope="row" class="is-title wrap">
              {handle}
              {name !== handle && <span class="quiet sub">{name}</span>}
            </th>
            <td class="quiet">
              <Time at={created} />
            </td>
            <td>
              <span class="row-actions">
                <DialogButton
                  label="Login code"
                  title={`Make a login code for ${handle}`}
                  dialog={(close) => <MakeCode handle={handle} onClose={close} />}
                />
              </span>
            </td>
          </tr>
        )}
      </DataTable>
    </Panel>
  );
}

function AddUser({ onClose }: { onClose: () => void }) {
  const code = useSignal<string | undefined>(undefined);
  if (code.value !== undefined) return <LoginCode key="code" code={code.value} onClose={onClose} />;
  return (
    <Dialog key="form" title="Add a user" onClose={onClose}>
      <Form<'handle' | 'name'>
        fields={[
          { name: 'handle', label: 'Handle', placeholder: 'ann', isRequired: true, maxLength: 32 },
          { name: 'name', label: 'Name', placeholder: 'Ann Lee', maxLength: 100 },
        ]}
        action="Add the user"
        onCancel={onClose}
        onSubmit={async ({ handle, name }) => {
          const added = await change(addUser, {
            body: { handle: handle.trim(), ...(name.trim() && { name: name.trim() }) },
          });
          code.value = added.code;
        }}
      />
    </Dialog>
  );
}

function MakeCode({ handle, onClose }: { handle: string; onClose: () => void }) {
  const code = useSignal<string | undefined>(undefined);
  if (code.value !== undefined) return <LoginCode key="code" code={code.value} onClose={onClose} />;
  return (
    <Dialog key="form" title={`A login code for ${handle}`} onClose={onClose}>
      <Form
        fields={[]}
        action="Make the code"
        onCancel={onClose}
        onSubmit={async () => {
          code.value = (await call(createLoginCode, { params: { user: handle } })).code;
        }}
      >
        <p>Whoever has it signs in as {handle}: once, within 15 minutes.</p>
      </Form>
    </Dialog>
  );
}

function LoginCode({ code, onClose }: { code: string; onClose: () => void }) {
  const link = `${location.origin}${location.pathname}#/sign-in/${code}`;
  return (
    <Dialog title="The login code" onClose={onClose}>
      <p>
        The code works once, within 15 minutes: where one signs in, with <Typed>gateway login</Typed>, or by
        this link.
      </p>
      <p>
        <code class="wrap">{link}</code>
      </p>
      <Secret secret={code} onDone={onClose} />
    </Dialog>
  );
}
