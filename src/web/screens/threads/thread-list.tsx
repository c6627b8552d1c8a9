import { listThreads } from '../../../shared/endpoints.ts';
import { useList } from '../../data/query.ts';
import { hrefOf } from '../../data/route.ts';
import { DataTable } from '../../parts/data-table.tsx';
import { Panel } from '../../parts/panel.tsx';
import { Time } from '../../parts/time.tsx';
import { Typed } from '../../parts/typed.tsx';

/** The stored conversations of the workspace. */
export function ThreadList() {
  const query = useList(listThreads, { query: {} });
  const rows = query.data?.data ?? [];
  return (
    <Panel title="Threads" queries={[query]}>
      {rows.length === 0 ? (
        <div class="empty">
          <p>No threads. A call that names one is stored in it:</p>
          <pre>
            <Typed>gateway threads create; gateway respond --thread th_… "Hello!"</Typed>
          </pre>
        </div>
      ) : (
        <DataTable
          name="threads"
          columns={[
            { name: 'Thread', value: ({ title, id }) => title || id },
            { name: 'Created', value: ({ created_at: at }) => Date.parse(at) },
            { name: 'Changed', value: ({ updated_at: at }) => Date.parse(at) },
          ]}
          rows={rows}
        >
          {({ id, title, working, created_at: created, updated_at: updated }) => (
            <tr key={id}>
              <th scope="row" class="is-title">
                <a href={hrefOf('threads', [id])} dir="auto">
                  {title || id}
                </a>
                {working && <span class="status running"> ◐ running</span>}
                <code class="quiet sub">{id}</code>
              </th>
              <td class="quiet is-minor">
                <Time at={created} />
              </td>
              <td class="quiet">
                <Time at={updated} />
              </td>
            </tr>
          )}
        </DataTable>
      )}
    </Panel>
  );
}
