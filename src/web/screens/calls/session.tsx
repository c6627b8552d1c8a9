import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TraceView } from '../../../shared/contract/traces.ts';
import { listTraces } from '../../../shared/endpoints.ts';
import { answerConversation, type Passage, requestConversation } from '../../../view/conversation.ts';
import { duration } from '../../../view/durations.ts';
import { briefDollars, sumOfUsd } from '../../../view/money.ts';
import { briefCount, sum } from '../../../view/numbers.ts';
import { readText } from '../../data/call-text.ts';
import { callsHref } from '../../data/calls-link.ts';
import { bodyView } from '../../data/preferences.ts';
import { useList } from '../../data/query.ts';
import { hrefOf } from '../../data/route.ts';
import { useTitle } from '../../data/title.ts';
import { Amount } from '../../parts/amount.tsx';
import { Passages } from '../../parts/passages.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Skeleton } from '../../parts/skeleton.tsx';
import { Status } from '../../parts/status.tsx';
import { Time } from '../../parts/time.tsx';
import { SaidPassages } from './new-passages.ts';

/** The first part of the address of a conversation, in the place of the id of a call. */
export const conversationPath = 'conversation';

export const conversationHref = (conversation: string) => hrefOf('calls', [conversationPath, conversation]);

/** The texts of so many calls are read at first, and with each step back. */
const turnsStep = 25;

/** What a call added to its conversation. */
interface Turn {
  trace: TraceView;
  asked: Passage[];
  answered: Passage[];
  /** Whether nothing is kept of it. */
  isUnknown: boolean;
}

/** A whole conversation on one page, the calls of which it consists, and what they cost together. */
export function Session({ conversation }: { conversation: string }) {
  const { data, error, reload } = useList(listTraces, { query: { conversation, fields: 'brief' } });
  const shown = useSignal(turnsStep);
  const turns = useSignal<readonly Turn[] | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  useTitle(`Conversation ${conversation}`);
  const traces = data?.data;
  const count = shown.value;
  useEffect(() => {
    if (traces === undefined) return;
    const abort = new AbortController();
    readTurns(traces.slice(0, count).toReversed(), abort.signal).then(
      (read) => {
        if (!abort.signal.aborted) turns.value = read;
      },
      (reason) => {
        if (!abort.signal.aborted) failure.value = reason;
      },
    );
    return () => abort.abort();
  }, [traces, count, turns, failure]);
  return (
    <article class="session">
      <nav class="call-nav" aria-label="Calls">
        <a href={hrefOf('calls')}>Calls</a>
        <span class="quiet" aria-hidden="true">
          /
        </span>
        <code>{conversation}</code>
      </nav>
      <header class="call-title">
        <h1>Conversation</h1>
        <a href={callsHref({ conversation })}>its calls</a>
      </header>
      {error !== undefined && <ProblemBox error={error} retry={reload} />}
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
      {traces && <Sums traces={traces} hasMore={data?.next !== null} />}
      {traces && traces.length > count && (
        <p>
          <button
            type="button"
            onClick={() => {
              shown.value += turnsStep;
            }}
          >
            Show {Math.min(turnsStep, traces.length - count)} earlier calls
          </button>
        </p>
      )}
      {turns.value === undefined && error === undefined && <Skeleton />}
      {turns.value?.map((turn) => (
        <OneTurn key={turn.trace.request_id} turn={turn} />
      ))}
      {traces?.length === 0 && <p class="empty">No call of this conversation is known.</p>}
    </article>
  );
}

function Sums({ traces, hasMore }: { traces: readonly TraceView[]; hasMore: boolean }) {
  const costs = traces.flatMap(({ cost }) => (cost ? [cost.total_usd] : []));
  const unpriced = traces.length - costs.length;
  const failed = traces.filter(({ status }) => status === 'failed' || status === 'rejected').length;
  const models = [...new Set(traces.flatMap(({ model }) => model ?? []))];
  const facts: [string, string][] = [
    ['Calls', `${briefCount(traces.length)}${hasMore ? '+' : ''}`],
    ['Failed', briefCount(failed)],
    ['Cost', `${briefDollars(sumOfUsd(costs))}${unpriced > 0 ? ` + ${unpriced} unpriced` : ''}`],
    [
      'Tokens',
      `${briefCount(sum(traces.map(({ tokens }) => tokens.input)))} → ${briefCount(sum(traces.map(({ tokens }) => tokens.output)))}`,
    ],
    ['Time in calls', duration(sum(traces.map(({ timings }) => timings.total_ms)))],
    ['Models', models.join(', ') || '–'],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd title={value}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function OneTurn({ turn: { trace, asked, answered, isUnknown } }: { turn: Turn }) {
  const isFormatted = bodyView.value === 'markdown';
  return (
    <section class="turn" aria-label={`Call ${trace.request_id}`}>
      <p class="turn-facts">
        <a href={hrefOf('calls', [trace.request_id])}>{trace.model ?? 'no model'}</a>
        <Status status={trace.status} code={trace.error_code} />
        <Time at={trace.completed_at} />
        <span class="quiet">{duration(trace.timings.total_ms)}</span>
        <span class="quiet">
          {briefCount(trace.tokens.input)} → {briefCount(trace.tokens.output)}
        </span>
        <Amount usd={trace.cost?.total_usd} />
      </p>
      {isUnknown ? (
        <p class="quiet">Its content is not kept.</p>
      ) : (
        <Passages conversation={{ passages: [...asked, ...answered] }} isFormatted={isFormatted} isFolded />
      )}
    </section>
  );
}

/** What each call added, the earliest first. */
async function readTurns(traces: readonly TraceView[], signal: AbortSignal): Promise<Turn[]> {
  const bodies = await Promise.all(
    traces.map(async ({ request_id: id }) => {
      const [request, answer] = await Promise.all([
        jsonOf(id, 'request', signal),
        jsonOf(id, 'answer', signal),
      ]);
      return { request, answer };
    }),
  );
  const said = new SaidPassages();
  return traces.map((trace, at) => {
    const { request, answer } = bodies[at] ?? {};
    const asked = request === undefined ? [] : said.newIn(requestConversation(request).passages);
    const answered = answer === undefined ? [] : answerConversation(answer).passages;
    said.add(answered);
    return { trace, asked, answered, isUnknown: request === undefined && answer === undefined };
  });
}

/** Undefined if it is not kept, or no JSON. */
async function jsonOf(id: string, part: 'request' | 'answer', signal: AbortSignal): Promise<unknown> {
  const read = await readText(id, part, { signal }).catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'not_found') return undefined;
    throw error;
  });
  try {
    return read?.text && JSON.parse(read.text.text);
  } catch {
    return undefined;
  }
}
