import { listResponses } from '../../../shared/endpoints.ts';
import { useList } from '../../data/query.ts';
import { hrefOf } from '../../data/route.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';

/** The stored responses, also those that run in the background. */
export function ResponseList() {
  const query = useList(listResponses, { query: {} });
  const rows = query.data?.data ?? [];
  return (
    <Panel title="Responses" queries={[query]}>
      {rows.length === 0 ? (
        <p class="empty">
          No stored responses. Calls of POST /v1/responses are stored unless they or their key say otherwise.
        </p>
      ) : (
        <DataTable
          name="responses"
          columns={[
            { name: 'Response', value: ({ id }) => id },
            { name: 'Model', value: ({ model }) => model },
            { name: 'Status', value: ({ status }) => status },
            { name: 'Created', value: ({ created_at: at }) => at },
          ]}
          rows={rows}
        >
          {({ id, model, status, background, created_at: created }) => (
            <tr key={id}>
              <th scope="row" class="is-title">
                <a href={hrefOf('threads', [id])}>
                  <code>{id}</code>
                </a>
              </th>
              <td>{model}</td>
              <td class={status === 'failed' ? 'bad' : ''}>
                {status}
                {background && <span class="quiet"> in the background</span>}
              </td>
              <td class="quiet">
                <Time at={new Date(created * 1000).toISOString()} />
              </td>
            </tr>
          )}
        </DataTable>
      )}
    </Panel>
  );
}
