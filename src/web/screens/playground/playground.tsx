import { signal, useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { listModels } from '../../../shared/endpoints.ts';
import { useKeys } from '../../data/keys.ts';
import { useQuery } from '../../data/query.ts';
import { hrefOf, route, setQuery } from '../../data/route.ts';
import { ProblemBox } from '../../parts/problem.tsx';
import { AnswerDiff } from './answer-diff.tsx';
import { change, draft, emptyDraft, lanesMax, loadRequest } from './draft.ts';
import { Lane } from './lane.ts';
import { LaneView } from './lane-view.tsx';
import { RequestForm } from './request-form.tsx';

/** They stay while other screens are open. */
const lanes = signal<readonly Lane[]>(Array.from({ length: lanesMax }, () => new Lane()));
const modelsMax = 1_000;

/** One request to several models at a time, new or captured: `#/playground?replay=req_1`. */
export function Playground() {
  const failure = useSignal<unknown>(undefined);
  const isDiff = useSignal(false);
  const { models, replayOf, warning } = draft.value;
  const wanted = route.value.query.get('replay') ?? undefined;
  const model = route.value.query.get('model') ?? undefined;
  useEffect(() => {
    if (wanted === undefined) return;
    const abort = new AbortController();
    failure.value = undefined;
    loadRequest(wanted, model, abort.signal).then(
      () => {
        lanes.value = lanes.value.map(() => new Lane());
        setQuery({ replay: undefined, model: undefined });
      },
      (error) => {
        if (!abort.signal.aborted) failure.value = error;
      },
    );
    return () => abort.abort();
  }, [wanted, model, failure]);
  const isRunning = models.some((_, at) => lanes.value[at]?.isRunning.value);
  const isReady = models.every((name) => name.trim() !== '');
  const run = () => {
    if (isReady)
      for (const [at, name] of models.entries()) void lanes.value[at]?.run(draft.value, name.trim());
  };
  useKeys({ 'Ctrl-Enter': run });
  return (
    <div class="playground">
      <header class="screen-head">
        <h1>Playground</h1>
        {replayOf && (
          <span>
            repeats <a href={hrefOf('calls', [replayOf])}>{replayOf}</a>
          </span>
        )}
        <span class="playground-actions">
          <button
            type="button"
            disabled={models.length >= lanesMax}
            onClick={() => change({ models: [...models, ''] })}
          >
            + Model
          </button>
          <button
            type="button"
            aria-pressed={isDiff.value}
            disabled={models.length < 2}
            onClick={() => {
              isDiff.value = !isDiff.value;
            }}
          >
            Diff answers
          </button>
          <button
            type="button"
            onClick={() => {
              draft.value = emptyDraft;
              lanes.value = lanes.value.map(() => new Lane());
            }}
          >
            New
          </button>
          <button
            type="button"
            class="main-button"
            disabled={!isReady || isRunning}
            title="Ctrl+Enter"
            onClick={run}
          >
            Run
          </button>
        </span>
      </header>
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
      {warning && <p class="warn">{warning} Put in what is missing.</p>}
      <Models />
      <div class="playground-body">
        <RequestForm />
        <div class="lanes">
          {models.map((name, at) => {
            const lane = lanes.value[at];
            // biome-ignore lint/suspicious/noArrayIndexKey: a lane stays where it is, whatever its model.
            return lane && <LaneView key={at} lane={lane} at={at} model={name} />;
          })}
        </div>
      </div>
      {isDiff.value && <AnswerDiff lanes={lanes.value.slice(0, models.length)} models={models} />}
    </div>
  );
}

/** The ids of models, to choose from. */
function Models() {
  const { data } = useQuery(listModels, { query: {} });
  return (
    <datalist id="models">
      {data?.data.slice(0, modelsMax).map(({ id }) => (
        <option key={id} value={id} />
      ))}
    </datalist>
  );
}
