import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { capturedTexts } from '../../../shared/calls/captured-text.ts';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { getTrace } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { isReplayed } from '../../../shared/replay/prepare-replay.ts';
import { rowOfTrace } from '../../../view/call-row.ts';
import { callFields } from '../../../view/calls.ts';
import { pick } from '../../../view/field.ts';
import { useKeyNames } from '../../data/key-names.ts';
import { useKeys } from '../../data/keys.ts';
import { onEvents } from '../../data/live.ts';
import { now } from '../../data/now.ts';
import { useQuery } from '../../data/query.ts';
import { hrefOf, navigate, route, setQuery } from '../../data/route.ts';
import { FieldText, titleOf } from '../../parts/field-columns.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Status } from '../../parts/status.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { Time } from '../../parts/time.tsx';
import { contentQueries, useContent } from './call-content.ts';
import { neighbours } from './call-list.ts';
import { CopyMenu } from './copy-menu.tsx';
import { Answer } from './tabs/answer.tsx';
import { Attempts } from './tabs/attempts.tsx';
import { Cost } from './tabs/cost.tsx';
import { Diff } from './tabs/diff.tsx';
import { Headers, Raw } from './tabs/raw.tsx';
import { Request } from './tabs/request.tsx';
import { Timeline } from './tabs/timeline.tsx';

const tabs = [
  ['timeline', 'Timeline'],
  ['request', 'Request'],
  ['answer', 'Answer'],
  ['attempts', 'Attempts'],
  ['cost', 'Cost'],
  ['diff', 'Diff'],
  ['headers', 'Headers'],
  ['raw', 'Raw'],
] as const;

const contents = {
  timeline: Timeline,
  request: Request,
  answer: Answer,
  attempts: Attempts,
  cost: Cost,
  diff: Diff,
  headers: Headers,
  raw: Raw,
};

/** A call on its own page: `#/calls/req_1?tab=request`. */
export function CallPage({ id, query }: { id: string; query: string }) {
  const { data: trace, error, reload } = useQuery(getTrace, { params: { request_id: id } });
  const isMissing = error instanceof ReceivedError && error.code === 'not_found';
  const wanted = route.value.query.get('tab') ?? 'timeline';
  const tab = Object.hasOwn(contents, wanted) ? (wanted as keyof typeof contents) : 'timeline';
  // Asked for together with the trace, not after it.
  const content = useContent(id, contentQueries[tab]);
  const { previous, next } = neighbours(id);
  const list = hrefOf('calls', [], { q: query });
  const hrefOfCall = (other: string | undefined) =>
    other && hrefOf('calls', [other], { q: query, tab: tab === 'timeline' ? undefined : tab });
  const reloadAll = () => {
    reload();
    content.reload();
  };
  const go = (href: string | undefined) => href && navigate(href, { replace: true });
  const step = (by: number) => {
    const at = tabs.findIndex(([name]) => name === tab);
    setQuery({ tab: tabs[(at + by + tabs.length) % tabs.length]?.[0] });
  };
  useKeys({
    j: () => go(hrefOfCall(next)),
    k: () => go(hrefOfCall(previous)),
    ']': () => step(1),
    '[': () => step(-1),
    Escape: () => navigate(list),
    r: () => {
      if (trace && isReplayed(trace.endpoint)) navigate(hrefOf('playground', [], { replay: id }));
    },
  });
  const Content = contents[tab];
  return (
    <article class="call">
      <nav class="call-nav" aria-label="Calls">
        <a href={list}>Calls</a>
        <span class="quiet" aria-hidden="true">
          /
        </span>
        <code>{id}</code>
        <span class="call-steps">
          <Step href={hrefOfCall(previous)} title="Previous (k)" label="‹ Previous" />
          <Step href={hrefOfCall(next)} title="Next (j)" label="Next ›" />
        </span>
      </nav>
      {isMissing && <Missing id={id} reload={reloadAll} />}
      {error !== undefined && !isMissing && <ProblemBox error={error} retry={reloadAll} />}
      {trace === undefined && error === undefined && <Skeleton />}
      {trace && (
        <>
          <CallHead trace={trace} />
          <Tabs
            label="Parts of the call"
            tabs={tabs}
            selected={tab}
            select={(name) => setQuery({ tab: name })}
          />
          <section id="tab-panel" class="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab}`}>
            <Content trace={trace} />
          </section>
        </>
      )}
    </article>
  );
}

/** A call is recorded when it ends: one that runs is shown as soon as an event says that it has ended. */
function Missing({ id, reload }: { id: string; reload: () => void }) {
  useEffect(
    () =>
      onEvents((events) => {
        if (events.some(({ type, data }) => data.request_id === id || type === 'calls.digest')) reload();
      }),
    [id, reload],
  );
  return (
    <p class="empty" role="status">
      This call has not ended yet, or there is none with this ID. It is shown here once it has ended;{' '}
      <a href={hrefOf('live')}>Live</a> has those that run.
    </p>
  );
}

function Step({ href, title, label }: { href: string | undefined; title: string; label: string }) {
  return (
    <a
      class="button"
      href={href || undefined}
      title={title}
      aria-disabled={href ? undefined : true}
      role={href ? undefined : 'link'}
    >
      {label}
    </a>
  );
}

const factNames = [
  ...['total_ms', 'first_token_ms', 'tokens_per_second', 'tokens', 'cost_usd', 'key', 'client'],
];

function CallHead({ trace }: { trace: TraceView }) {
  const { attempts } = trace;
  const context = { now: now.value, keyNames: useKeyNames() };
  const row = rowOfTrace(trace);
  const facts: [string, ComponentChildren][] = [
    ...pick(callFields, factNames).map((field): [string, ComponentChildren] => [
      titleOf(field),
      <FieldText key={field.name} field={field} row={row} context={context} />,
    ]),
    ['Content', capturedTexts[trace.captured?.state ?? 'none']],
    ['Ended', <Time key="time" at={trace.completed_at} />],
  ];
  return (
    <header class="call-head">
      <div class="call-title">
        <h1>{trace.model ?? 'no model'}</h1>
        <Status status={trace.status} code={trace.error_code} />
        {attempts.length > 1 && <span class="quiet">{attempts.length} attempts</span>}
        <span class="call-actions">
          {isReplayed(trace.endpoint) && (
            <a
              class="button"
              href={hrefOf('playground', [], { replay: trace.request_id })}
              title="Send it again, changed or to other models"
            >
              Replay
            </a>
          )}
          <CopyMenu trace={trace} />
        </span>
      </div>
      {trace.rejection && <p class="refusal">{trace.rejection.message}</p>}
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </header>
  );
}
