import type { Result } from '../../../shared/contract/endpoint.ts';
import type { listSessions as contract } from '../../../shared/contract/people.ts';
import { deleteSession, listSessions } from '../../../shared/endpoints.ts';
import { change, useList } from '../../data/query.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { DataTable, timeOf } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { actions } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { Typed } from '../../parts/typed.tsx';

type Session = Result<typeof contract>['data'][number];

/** Where the user is signed in. */
export function Logins() {
  const query = useList(listSessions, { query: {} });
  const rows = query.data?.data ?? [];
  return (
    <Panel title="Logins" queries={[query]}>
      <DataTable
        name="logins"
        columns={[
          { name: 'Login', value: ({ name }) => name },
          { name: 'Since', value: ({ created_at: at }) => Date.parse(at) },
          { name: 'Last used', value: ({ last_used_at: at }) => timeOf(at) },
          { name: 'Ends without use', value: ({ expires_at: at }) => timeOf(at) },
          actions,
        ]}
        rows={rows}
      >
        {(session) => <LoginRow key={session.id} session={session} />}
      </DataTable>
    </Panel>
  );
}

function LoginRow({ session }: { session: Session }) {
  const { id, name, kind, created_at: created, last_used_at: used, expires_at: expires } = session;
  return (
    <tr>
      <th scope="row" class="is-title">
        {name} <span class="quiet">{kind === 'browser' ? 'browser' : 'commands'}</span>
        {session.is_current && <span class="ok-text"> this one</span>}
      </th>
      <td class="quiet is-minor">
        <Time at={created} />
      </td>
      <td class="quiet">{used === null ? 'never' : <Time at={used} />}</td>
      <td class="quiet is-minor">{expires === null ? 'never' : <Time at={expires} />}</td>
      <td>
        {!session.is_current && (
          <span class="row-actions">
            <ConfirmButton
              label="End"
              title={`End the login ${name}`}
              question={`End the login ${name}?`}
              action="End the login"
              onConfirm={async () => {
                await change(deleteSession, { params: { session: id } });
                toast(`The login ${name} was ended.`);
              }}
            >
              <p>Its calls are rejected and its running streams end immediately.</p>
              {kind === 'command' && (
                <p class="quiet">
                  Commands on that machine then need a new login. Where they are those of this host,{' '}
                  <Typed>gateway open</Typed> no longer works there.
                </p>
              )}
            </ConfirmButton>
          </span>
        )}
      </td>
    </tr>
  );
}
