import { batch, signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { briefCount } from '../../../view/numbers.ts';
import { callsQuery } from '../../data/calls-query.ts';
import { useKeyNames } from '../../data/key-names.ts';
import { useKeys } from '../../data/keys.ts';
import { hrefOf, navigate, route, setQuery } from '../../data/route.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Table, type TableColumn } from '../../parts/table.tsx';
import { Typed } from '../../parts/typed.tsx';
import { CallPage } from './call.tsx';
import {
  type CallSorting,
  calls,
  isPartialList,
  lastCall,
  listedQuery,
  listedSort,
  listPlace,
  newCalls,
  queryFault,
  reloadCalls,
  startCalls,
} from './call-list.ts';
import { ColumnMenu, columnsFor, hasPreviews } from './columns.tsx';
import { type GroupedCall, groupedByConversation } from './conversations.ts';
import { ExportMenu } from './export-menu.tsx';
import { Facets } from './facets.tsx';
import { Histogram } from './histogram.tsx';
import { loadPreviews } from './previews.ts';
import { SavedQueries } from './saved-queries.tsx';
import { conversationHref, conversationPath, Session } from './session.tsx';

/** The list of calls, `#/calls?q=status:failed`, and a single one, `#/calls/req_1`. */
export function Calls() {
  const { path, query } = route.value;
  const text = query.get('q') ?? '';
  const sort = sortIn(query.get('sort'));
  const [id, conversation] = path;
  const isList = id === undefined;
  useEffect(() => {
    batch(() => {
      listedQuery.value = text;
      // The address of a call says nothing of the order of the list that it was opened from.
      if (isList) listedSort.value = sort;
    });
    startCalls();
  }, [text, sort, isList]);
  if (isList) return <CallList query={text} />;
  if (id === conversationPath && conversation !== undefined)
    return <Session key={conversation} conversation={conversation} />;
  return <CallPage key={id} id={id} query={text} />;
}

function sortIn(text: string | null): CallSorting | undefined {
  return text === 'cost' || text === 'total_ms' ? text : undefined;
}

/** The address of a call in the list of a query. */
const hrefOfCall = (id: string, query: string) => hrefOf('calls', [id], { q: query });

function CallList({ query }: { query: string }) {
  const list = calls.value;
  const rows = list.rows.value;
  const selected = lastCall;
  const keyNames = useKeyNames();
  const isGrouped = route.value.query.get('group') === 'conversation';
  const shown = useMemo(
    () => (isGrouped ? groupedByConversation(rows) : rows.map((row) => ({ ...row, calls: 1 }))),
    [rows, isGrouped],
  );
  const columns: TableColumn<GroupedCall>[] = columnsFor({
    hrefOf: (id) => hrefOfCall(id, query),
    keyNames,
  });
  const move = (step: number): void => {
    const shown = calls.value.rows.value;
    const at = shown.findIndex(({ request_id }) => request_id === selected.value);
    const next = shown[at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + step))];
    selected.value = next?.request_id;
  };
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => selected.value && navigate(hrefOfCall(selected.value, query)),
    x: () => selected.value && toggleMark(selected.value),
    D: () => openDiff(query),
    '/': () => document.getElementById('query')?.focus(),
    r: reloadCalls,
  });
  const hasText = hasPreviews();
  useEffect(() => {
    if (hasText) loadPreviews(rows);
  }, [rows, hasText]);
  const error = list.error.value;
  const isEmpty = rows.length === 0 && !list.isLoading.value && error === undefined;
  return (
    <div class="calls">
      <header class="screen-head">
        <h1>Calls</h1>
        <QueryBox query={query} />
        <button
          type="button"
          aria-pressed={isGrouped}
          onClick={() => setQuery({ group: isGrouped ? undefined : 'conversation' })}
        >
          By conversation
        </button>
        <button type="button" disabled={marked.value.length < 2} title="D" onClick={() => openDiff(query)}>
          Diff
        </button>
        <SavedQueries query={query} />
        <ColumnMenu />
        <ExportMenu />
        <button type="button" onClick={reloadCalls} title="r">
          {newCalls.value > 0 ? `${briefCount(newCalls.value)} new` : 'Refresh'}
        </button>
      </header>
      <Histogram query={query} />
      <div class="calls-body">
        <Facets query={query} />
        <div class="calls-rows">
          {error !== undefined && <ProblemBox error={error} retry={() => list.reload()} />}
          {rows.length === 0 && list.isLoading.value && <Skeleton rows={16} />}
          {isEmpty && <NoCalls query={query} />}
          {rows.length > 0 && (
            <Table
              label="Calls"
              columns={isGrouped ? [countColumn, ...columns] : [markColumn, ...columns]}
              rows={shown}
              keyOf={idOf}
              selected={selected.value}
              open={(row) =>
                navigate(
                  row.calls > 1 && row.conversation !== null
                    ? conversationHref(row.conversation)
                    : hrefOfCall(row.request_id, query),
                )
              }
              place={listPlace}
              hasMore={list.hasMore.value}
              onEnd={loadMore}
            />
          )}
          {isPartialList.value && (
            <p class="quiet" role="status">
              Some calls may be missing: there was no time to look at all of them. A shorter time has them
              all.
            </p>
          )}
          {list.isLoading.value && list.scanned.value > 0 && (
            <p class="quiet" role="status">
              {briefCount(list.scanned.value)} calls searched, {briefCount(rows.length)} found so far…
            </p>
          )}
        </div>
      </div>
    </div>
  );
}

const idOf = ({ request_id }: TraceView) => request_id;
const loadMore = () => calls.value.more();

/** Calls that are chosen for a diff, the latest choice last. */
const marked = signal<readonly string[]>([]);

function toggleMark(id: string): void {
  const others = marked.value.filter((one) => one !== id);
  marked.value = others.length < marked.value.length ? others : [...others, id].slice(-2);
}

function openDiff(query: string): void {
  const [first, second] = marked.value;
  const id = second ?? first ?? lastCall.value;
  if (id === undefined) return;
  navigate(hrefOf('calls', [id], { q: query, tab: 'diff', with: second === undefined ? undefined : first }));
}

const markColumn = {
  name: 'Diff',
  kind: 'pick',
  show: ({ request_id: id }: TraceView) => (
    <input
      type="checkbox"
      aria-label={`Compare ${id}`}
      checked={marked.value.includes(id)}
      onChange={() => toggleMark(id)}
    />
  ),
};

const countColumn = {
  name: 'Calls',
  kind: 'number',
  show: ({ calls: count, conversation }: GroupedCall) =>
    count > 1 && conversation !== null ? (
      <a href={hrefOf('calls', [], { q: callsQuery({ conversation }) })}>{briefCount(count)}</a>
    ) : (
      '1'
    ),
};

function QueryBox({ query }: { query: string }) {
  const text = useSignal(query);
  const known = useRef(query);
  // Another query came by the address, not by typing.
  if (known.current !== query) {
    known.current = query;
    text.value = query;
  }
  return (
    <form
      class="query"
      aria-label="Search"
      onSubmit={(event) => {
        event.preventDefault();
        known.current = text.value.trim();
        setQuery({ q: known.current }, { replace: false });
      }}
    >
      <input
        id="query"
        type="search"
        aria-label="Filter"
        aria-invalid={queryFault.value !== undefined}
        aria-describedby="query-fault"
        placeholder="status:failed model:openai/gpt-5 >4s >$0.05 since:2h"
        spellcheck={false}
        autocomplete="off"
        value={text.value}
        onInput={(event) => {
          text.value = event.currentTarget.value;
        }}
        onKeyDown={(event) => {
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
      <span id="query-fault" class="fault" role="status">
        {queryFault.value}
      </span>
    </form>
  );
}

function NoCalls({ query }: { query: string }) {
  if (query !== '')
    return (
      <p class="empty">
        No call matches. <a href={hrefOf('calls')}>Show all calls</a>
      </p>
    );
  return (
    <div class="empty">
      <p>No calls yet. Send the first one:</p>
      <pre>
        <Typed>gateway respond "Hello!"</Typed>
      </pre>
    </div>
  );
}
