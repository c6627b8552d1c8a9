import { listResponses } from '../../../shared/endpoints.ts';
import { useList } from '../../data/query.ts';
import { hrefOf } from '../../data/route.ts';
import { Panel } from '../../parts/panel.tsx';
import { TableHead } from '../../parts/table-head.tsx';
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
        <table class="data is-cards">
          <TableHead columns={['Response', 'Model', 'Status', 'Created']} />
          <tbody>
            {rows.map(({ id, model, status, background, created_at: created }) => (
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
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
