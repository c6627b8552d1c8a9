import type { TraceView } from '../../../../shared/contract/traces.ts';
import { sizeText } from '../../../../shared/text/size-text.ts';
import { briefCount } from '../../../../view/numbers.ts';
import { hrefOf } from '../../../data/route.ts';
import { number, TableHead } from '../../../parts/table-head.tsx';
import { contentQueries, useContent } from '../call-content.ts';

/** What fills the context of a request, and where its cached prefix broke. */
export function Composition({ trace }: { trace: TraceView }) {
  const { data } = useContent(trace.request_id, contentQueries.timeline);
  const composition = data?.composition;
  if (!composition) return null;
  const { by_kind: kinds, tokens } = composition;
  // Calls that only begin alike need not have anything to do with each other.
  const previous = trace.conversation === null ? null : composition.previous;
  const most = Math.max(1, ...kinds.map((kind) => kind.tokens));
  return (
    <section class="composition">
      <h2>
        Context <span class="quiet">≈ {briefCount(tokens)} tokens</span>
      </h2>
      <table class="plain-table">
        <TableHead
          columns={[
            'Part',
            number('Count'),
            number('Size'),
            number('≈ Tokens'),
            { name: 'Share', kind: 'meter-cell', isHidden: true },
          ]}
        />
        <tbody>
          {kinds.map((kind) => (
            <tr key={kind.kind}>
              <th scope="row">{kind.kind.replace('_', ' ')}</th>
              <td class="number">{kind.parts}</td>
              <td class="number">{sizeText(kind.bytes)}</td>
              <td class="number">{briefCount(kind.tokens)}</td>
              <td class="meter-cell">
                <span class="meter" aria-hidden="true">
                  <span style={{ width: `${(kind.tokens / most) * 100}%` }} />
                </span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      {previous && (
        <p>
          Unchanged since{' '}
          <a href={hrefOf('calls', [previous.request_id])}>the previous request of the conversation</a>: ≈{' '}
          {briefCount(previous.unchanged_tokens)} of {briefCount(tokens)} tokens.
        </p>
      )}
      {previous?.break && (
        <div class="cache-break">
          <p>
            The cached prompt broke at <code>{previous.break.path}</code> ({previous.break.change}):
          </p>
          {previous.break.before && <pre class="removed">{previous.break.before}</pre>}
          {previous.break.after && <pre class="added">{previous.break.after}</pre>}
        </div>
      )}
    </section>
  );
}
