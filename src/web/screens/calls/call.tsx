import { useEffect } from 'preact/hooks';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { getTrace } from '../../../shared/endpoints.ts';
import { ReceivedError } from '../../../shared/faults/received-error.ts';
import { isReplayed } from '../../../shared/replay/prepare-replay.ts';
import { clockTime } from '../../../view/times.ts';
import { useKeys } from '../../data/keys.ts';
import { onEvents } from '../../data/live.ts';
import { zone } from '../../data/preferences.ts';
import { useQuery } from '../../data/query.ts';
import { hrefOf, navigate, route, setQuery } from '../../data/route.ts';
import { useTitle } from '../../data/title.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Tabs } from '../../parts/tabs.tsx';
import { contentQueries, useContent } from './call-content.ts';
import { CallHead } from './call-head.tsx';
import { lastCall, neighbours } from './call-list.ts';
import { Answer } from './tabs/answer.tsx';
import { Attempts } from './tabs/attempts.tsx';
import { ConversationTab } from './tabs/conversation.tsx';
import { Cost } from './tabs/cost.tsx';
import { Diff } from './tabs/diff.tsx';
import { Headers, Raw } from './tabs/raw.tsx';
import { Request } from './tabs/request.tsx';
import { Timeline } from './tabs/timeline.tsx';

const tabs = [
  ['conversation', 'Conversation'],
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
  conversation: ConversationTab,
  timeline: Timeline,
  request: Request,
  answer: Answer,
  attempts: Attempts,
  cost: Cost,
  diff: Diff,
  headers: Headers,
  raw: Raw,
};

/** What was asked and answered comes first. */
const firstTab = 'conversation';

/** A call on its own page: `#/calls/req_1?tab=request`. */
export function CallPage({ id, query }: { id: string; query: string }) {
  const { data: trace, error, reload } = useQuery(getTrace, { params: { request_id: id } });
  const isMissing = error instanceof ReceivedError && error.code === 'not_found';
  const wanted = route.value.query.get('tab') ?? firstTab;
  const tab = Object.hasOwn(contents, wanted) ? (wanted as keyof typeof contents) : firstTab;
  // Asked for together with the trace, not after it.
  const content = useContent(id, contentQueries[tab]);
  const answer = useContent(id, tab === 'conversation' ? contentQueries.answer : undefined);
  useEffect(() => {
    lastCall.value = id;
  }, [id]);
  useTitle(trace && titleOf(trace));
  const { previous, next } = neighbours(id);
  const list = hrefOf('calls', [], { q: query });
  const hrefOfCall = (other: string | undefined) =>
    other && hrefOf('calls', [other], { q: query, tab: tab === firstTab ? undefined : tab });
  const reloadAll = () => {
    reload();
    content.reload();
    answer.reload();
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

/** `openai/gpt-5, 14:05:09`. */
function titleOf({ model, completed_at: at }: TraceView): string {
  return `${model ?? 'No model'}, ${clockTime(at, zone.value === 'local' ? undefined : zone.value)}`;
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
