import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TraceView } from '../../../../shared/contract/traces.ts';
import { inWords } from '../../../../shared/text/in-words.ts';
import { hrefOf, route, setQuery } from '../../../data/route.ts';
import { Comparison } from '../../../parts/comparison.tsx';
import { ProblemBox } from '../../../parts/problem.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { Time } from '../../../parts/time.tsx';
import { type Compared, compareWith } from '../compared-calls.ts';

/** What changed against another call: `with` of the address, by default the previous one of the conversation. */
export function Diff({ trace }: { trace: TraceView }) {
  const other = route.value.query.get('with') ?? undefined;
  const compared = useSignal<Compared | 'none' | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    compared.value = undefined;
    failure.value = undefined;
    compareWith(trace, other, abort.signal).then(
      (found) => {
        if (!abort.signal.aborted) compared.value = found ?? 'none';
      },
      (error) => {
        if (!abort.signal.aborted) failure.value = error;
      },
    );
    return () => abort.abort();
  }, [trace, other, compared, failure]);
  return (
    <>
      <OtherCall id={trace.request_id} other={other} />
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
      {failure.value === undefined && compared.value === undefined && <Skeleton />}
      {compared.value === 'none' && (
        <p class="empty">
          No earlier call of its {trace.conversation === null ? 'key and model' : 'conversation'} had ended
          when this one began.
        </p>
      )}
      {compared.value && compared.value !== 'none' && <Differences compared={compared.value} />}
    </>
  );
}

function Differences({ compared: { before, after, comparison, missing } }: { compared: Compared }) {
  const isSame =
    comparison.parameters.length === 0 &&
    [...comparison.parts, ...comparison.answer].every(({ change }) => change === 'same');
  return (
    <>
      <p>
        From <CallLink trace={before} /> to <CallLink trace={after} />
      </p>
      {missing.length > 0 && (
        <p class="warn">
          The request is not kept of {inWords(missing, 'and')}, so that nothing can be compared.
        </p>
      )}
      {missing.length === 0 && isSame && <p class="empty">Requests and answers are the same.</p>}
      {/* Calls without a conversation need not have anything to do with each other. */}
      <Comparison comparison={after.conversation === null ? { ...comparison, cache: null } : comparison} />
    </>
  );
}

function CallLink({ trace: { request_id: id, created_at: at } }: { trace: TraceView }) {
  return (
    <>
      <a href={hrefOf('calls', [id])}>{id}</a> (<Time at={at} />)
    </>
  );
}

function OtherCall({ id, other }: { id: string; other: string | undefined }) {
  return (
    <form
      class="view-bar"
      onSubmit={(event) => {
        event.preventDefault();
        const given = new FormData(event.currentTarget).get('other');
        const text = String(given).trim();
        setQuery({ with: text === '' || text === id ? undefined : text });
      }}
    >
      <label>
        Compare with{' '}
        <input
          name="other"
          size={38}
          defaultValue={other ?? ''}
          placeholder="the previous call of the conversation"
          spellcheck={false}
          autocomplete="off"
        />
      </label>
      <button type="submit">Compare</button>
    </form>
  );
}
