import type { TraceView } from '../../../../shared/contract/traces.ts';
import { JsonTree } from '../../../parts/json-tree.tsx';
import { contentQueries, useContent } from '../call-content.ts';
import { NotKept } from './body.tsx';

interface HeaderTableProps {
  headers: readonly { name: string; value: string }[];
  label: string;
}

export function HeaderTable({ headers, label }: HeaderTableProps) {
  if (headers.length === 0) return <p class="quiet">None were kept.</p>;
  return (
    <table class="plain-table headers" aria-label={label}>
      <tbody>
        {headers.map(({ name, value }, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a header may come twice.
          <tr key={at}>
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <code>{value}</code>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** The headers of the request; those of providers are with their attempts. */
export function Headers({ trace }: { trace: TraceView }) {
  const { data, error } = useContent(trace.request_id, contentQueries.headers);
  if (error !== undefined) return <NotKept trace={trace} error={error} />;
  return (
    <>
      <p class="quiet">Harmless ones; of credentials, only the name is kept.</p>
      {data && <HeaderTable headers={data.request?.headers ?? []} label="Headers of the request" />}
    </>
  );
}

/** The trace as the API has it. */
export function Raw({ trace }: { trace: TraceView }) {
  return <JsonTree value={trace} />;
}
