import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { answerConversation, answerText } from '../../../view/conversation.ts';
import { duration } from '../../../view/durations.ts';
import { briefDollars } from '../../../view/money.ts';
import { briefCount, speed, tokenRate } from '../../../view/numbers.ts';
import { problemOf } from '../../data/api.ts';
import { bodyView } from '../../data/preferences.ts';
import { hrefOf } from '../../data/route.ts';
import { Amount } from '../../parts/amount.tsx';
import { Passages } from '../../parts/passages.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Status } from '../../parts/status.tsx';
import { change, draft } from './draft.ts';
import { type Lane, type Outcome, preview } from './lane.ts';
import { toolCallsIn, withResults } from './tool-results.ts';
import { withTurns } from './turns.ts';

interface LaneProps {
  lane: Lane;
  at: number;
  model: string;
}

/** A model, the most that it costs, and its answers. */
export function LaneView({ lane, at, model }: LaneProps) {
  const { models } = draft.value;
  const outcomes = lane.outcomes.value;
  const last = outcomes.at(-1);
  const setModel = (text: string) => change({ models: models.with(at, text) });
  return (
    <section class="panel lane" aria-label={model || 'A model to choose'} aria-busy={lane.isRunning.value}>
      <header>
        <input
          list="models"
          aria-label={`Model ${at + 1}`}
          placeholder="Model, such as openai/gpt-5"
          spellcheck={false}
          autocomplete="off"
          value={model}
          onInput={(event) => setModel(event.currentTarget.value)}
        />
        {lane.isRunning.value && (
          <button type="button" onClick={() => lane.stop()}>
            Stop
          </button>
        )}
        {models.length > 1 && (
          <button
            type="button"
            aria-label={`Remove model ${at + 1}`}
            onClick={() => change({ models: models.toSpliced(at, 1) })}
          >
            ✕
          </button>
        )}
      </header>
      <MostCost model={model} />
      {outcomes.length > 1 && <Spread outcomes={outcomes} />}
      {last && <OutcomeView lane={lane} outcome={last} />}
    </section>
  );
}

const previewAfterMs = 400;

function MostCost({ model }: { model: string }) {
  const { endpoint, body, repeat } = draft.value;
  const text = useSignal('');
  // biome-ignore lint/correctness/useExhaustiveDependencies: these members of the draft change the cost.
  useEffect(() => {
    const abort = new AbortController();
    const timer = setTimeout(() => {
      if (model === '') {
        text.value = 'Its answer appears here once a model is chosen.';
        return;
      }
      preview(draft.value, model, abort.signal).then(
        ({ cost_usd_max: most }) => {
          text.value =
            most === null
              ? 'The price is unknown.'
              : `at most ${briefDollars(String(Number(most) * repeat))}`;
        },
        (error) => {
          if (!abort.signal.aborted) text.value = problemOf(error).sentence;
        },
      );
    }, previewAfterMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [endpoint, body, repeat, model, text]);
  return <p class="quiet most-cost">{text.value}</p>;
}

/** How far the answers of one model differ. */
function Spread({ outcomes }: { outcomes: readonly Outcome[] }) {
  const traces = outcomes.flatMap(({ trace }) => trace ?? []);
  const costs = traces.flatMap(({ cost }) => (cost ? [Number(cost.total_usd)] : []));
  const times = traces.map(({ timings }) => timings.total_ms);
  const texts = new Set(outcomes.flatMap(({ answer }) => (answer ? [JSON.stringify(textsOf(answer))] : [])));
  return (
    <p class="spread">
      {outcomes.length} answers, {texts.size} different
      {times.length > 0 && ` · ${range(times, duration)}`}
      {costs.length > 0 && ` · ${range(costs, briefDollars)}`}
    </p>
  );
}

function range(values: readonly number[], show: (value: number) => string): string {
  const [least, most] = [show(Math.min(...values)), show(Math.max(...values))];
  return least === most ? least : `${least} to ${most}`;
}

function textsOf(answer: Record<string, unknown>): string[] {
  return answerConversation(answer).passages.flatMap(({ blocks }) => blocks.map(({ text }) => text));
}

function OutcomeView({ lane, outcome }: { lane: Lane; outcome: Outcome }) {
  const { answer, error, trace, requestId, isRunning } = outcome;
  const rate = trace && tokenRate(trace);
  return (
    <>
      {trace && (
        <p class="lane-facts">
          <Status status={trace.status} code={trace.error_code} /> · {duration(trace.timings.first_token_ms)}{' '}
          first · {duration(trace.timings.total_ms)}
          {rate !== undefined && ` · ${speed(rate)}`} · {briefCount(trace.tokens.input)} →{' '}
          {briefCount(trace.tokens.output)} · <Amount usd={trace.cost?.total_usd} />
        </p>
      )}
      {isRunning && answer === undefined && <p class="loading">Waiting…</p>}
      {answer && (
        <Passages
          conversation={{ ...answerConversation(answer), parameters: [] }}
          isFormatted={bodyView.value === 'markdown'}
        />
      )}
      {error !== undefined && <ProblemBox error={error} />}
      {answer && !isRunning && <ToolResults key={requestId} lane={lane} outcome={outcome} answer={answer} />}
      {answer && !isRunning && <Continue answer={answer} />}
      {requestId && !isRunning && (
        <p>
          <a href={hrefOf('calls', [requestId])}>{requestId}</a>
        </p>
      )}
    </>
  );
}

/** Takes an answer into the request, so that the conversation goes on from it. */
function Continue({ answer }: { answer: Record<string, unknown> }) {
  const { endpoint } = draft.value;
  const text = answerText(answerConversation(answer));
  if (endpoint === '/v1/embeddings' || text === '' || toolCallsIn(answer).length > 0) return null;
  return (
    <button
      type="button"
      onClick={() => {
        const turns = [
          { role: 'assistant', text },
          { role: 'user', text: '' },
        ] as const;
        change({ body: withTurns(endpoint, draft.value.body, turns), replayOf: undefined });
      }}
    >
      Continue from this answer
    </button>
  );
}

interface ToolResultsProps {
  lane: Lane;
  outcome: Outcome;
  answer: Record<string, unknown>;
}

/** Results of the tools that the model called, written by hand. */
function ToolResults({ lane, outcome, answer }: ToolResultsProps) {
  const results = useSignal<Record<string, string>>({});
  const calls = toolCallsIn(answer);
  if (calls.length === 0) return null;
  return (
    <form
      class="tool-results"
      onSubmit={(event) => {
        event.preventDefault();
        const given = Object.fromEntries(calls.map(({ id }) => [id, results.value[id] ?? '']));
        const { endpoint } = draft.value;
        void lane.continueWith(endpoint, withResults(endpoint, outcome.body, answer, given));
      }}
    >
      {calls.map(({ id, name }) => (
        <label key={id}>
          Result of <code>{name}</code>
          <textarea
            rows={2}
            value={results.value[id] ?? ''}
            onInput={({ currentTarget }) => {
              results.value = { ...results.value, [id]: currentTarget.value };
            }}
          />
        </label>
      ))}
      <button type="submit">Send the results</button>
    </form>
  );
}
