import type { CallComparison, PartChange } from '../../shared/comparison/compare-calls.ts';
import { briefCount } from '../../view/numbers.ts';
import { Hunks } from './hunks.tsx';
import { TableHead } from './table-head.tsx';

/** How two calls differ: parameters as a table, then requests and answers part by part. */
export function Comparison({ comparison }: { comparison: CallComparison }) {
  const { parameters, parts, cache, answer } = comparison;
  return (
    <>
      {cache && (
        <section class="cache-break">
          <p>
            Unchanged at the beginning: {cache.unchanged_parts} parts,{' '}
            {briefCount(cache.unchanged_characters)} of {briefCount(cache.characters)} characters.
          </p>
          {cache.break && (
            <>
              <p>
                The cached prompt broke at <code>{cache.break.path}</code>:
              </p>
              {cache.break.before !== null && <pre class="removed">{cache.break.before}</pre>}
              {cache.break.after !== null && <pre class="added">{cache.break.after}</pre>}
            </>
          )}
        </section>
      )}
      {parameters.length > 0 && (
        <table class="plain-table changes">
          <TableHead columns={['Parameter', 'Before', 'After']} />
          <tbody>
            {parameters.map(({ name, before, after }) => (
              <tr key={name}>
                <th scope="row">
                  <code>{name}</code>
                </th>
                <td>{before === null ? <span class="quiet">none</span> : <code>{before}</code>}</td>
                <td>{after === null ? <span class="quiet">none</span> : <code>{after}</code>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Parts title="Request" parts={parts} />
      <Parts title="Answer" parts={answer} />
    </>
  );
}

/** Parts that are the same are counted between those that are not. */
function Parts({ title, parts }: { title: string; parts: readonly PartChange[] }) {
  if (parts.length === 0) return null;
  return (
    <section class="part-changes" aria-label={title}>
      <h2 class="part-changes-title">{title}</h2>
      {runs(parts).map((run) =>
        Array.isArray(run) ? (
          <p key={run[0]?.path} class="quiet">
            {run.length === 1 ? '1 part' : `${run.length} parts`} unchanged
          </p>
        ) : (
          <Part key={`${run.change} ${run.path}`} part={run} />
        ),
      )}
    </section>
  );
}

function Part({ part: { change, role, path, hunks } }: { part: PartChange }) {
  return (
    <article class={`part-change ${change}`}>
      <p>
        <b>{change}</b> {role} <code class="quiet">{path}</code>
      </p>
      <Hunks hunks={hunks} />
    </article>
  );
}

function runs(parts: readonly PartChange[]): (PartChange | PartChange[])[] {
  const all: (PartChange | PartChange[])[] = [];
  for (const part of parts) {
    const last = all.at(-1);
    if (part.change !== 'same') all.push(part);
    else if (Array.isArray(last)) last.push(part);
    else all.push([part]);
  }
  return all;
}
