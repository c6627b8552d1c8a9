import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { cancelCall, listTraces } from '../../../shared/endpoints.ts';
import type { CallRow } from '../../../view/call-row.ts';
import { callFields } from '../../../view/calls.ts';
import { type KeyNames, keyText } from '../../../view/key-names.ts';
import { LiveCalls } from '../../../view/live-calls.ts';
import { briefDollars } from '../../../view/money.ts';
import { briefRate } from '../../../view/numbers.ts';
import { call, problemOf } from '../../data/api.ts';
import { useKeyNames } from '../../data/key-names.ts';
import { useKeys } from '../../data/keys.ts';
import { connection, gaps, onEvents } from '../../data/live.ts';
import { hrefOf, navigate } from '../../data/route.ts';
import { callKinds, liveSeconds } from '../../parts/call-kinds.ts';
import { fieldColumns } from '../../parts/field-columns.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { Status } from '../../parts/status.tsx';
import { Table, type TableColumn } from '../../parts/table.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';
import { Typed } from '../../parts/typed.tsx';

/** Running calls count up; as often as rows are drawn. */
const drawMs = 250;
const seedMax = 50;
const callsMax = 500;

/** Calls as they run and end. */
export function Live() {
  const calls = useRef(new LiveCalls({ max: callsMax, since: Date.now() }));
  /** Changes when calls have changed. */
  const version = useSignal(0);
  const isPaused = useSignal(false);
  const isHeld = useSignal(false);
  const failure = useSignal<unknown>(undefined);
  const order = useRef<string[]>([]);
  useEffect(() => {
    let isDirty = true;
    const release = onEvents((events) => {
      for (const event of events) calls.current.apply(event);
      isDirty = true;
    });
    const timer = setInterval(() => {
      if (document.visibilityState !== 'visible') return;
      if (!isDirty && calls.current.running() === 0) return;
      isDirty = false;
      version.value += 1;
    }, drawMs);
    return () => {
      release();
      clearInterval(timer);
    };
  }, [version]);
  const gap = gaps.value;
  // biome-ignore lint/correctness/useExhaustiveDependencies: after a gap, calls are loaded again.
  useEffect(() => {
    const abort = new AbortController();
    const query = { fields: 'brief' as const, limit: seedMax };
    call(listTraces, { query }, { signal: abort.signal }).then(
      ({ data, has_more: hasMore }) => {
        if (gap > 0) calls.current.forgetRunning();
        calls.current.backfill(data, { hasMore });
        failure.value = undefined;
        version.value += 1;
      },
      (error) => {
        if (!abort.signal.aborted) failure.value = error;
      },
    );
    return () => abort.abort();
  }, [gap, version, failure]);
  useKeys({
    p: () => {
      isPaused.value = !isPaused.value;
    },
  });
  void version.value;
  const latest = calls.current.runningFirst();
  const isStill = isPaused.value || isHeld.value;
  if (!isStill || order.current.length === 0) order.current = latest.map(({ id }) => id);
  const known = new Set(order.current);
  const waiting = latest.filter(({ id }) => !known.has(id)).length;
  const rows = order.current.flatMap((id) => calls.current.get(id) ?? []);
  const show = () => {
    order.current = latest.map(({ id }) => id);
    version.value += 1;
  };
  return (
    <div class="live calls">
      <header class="screen-head">
        <h1>Live</h1>
        <Summary running={calls.current.running()} {...calls.current.rate(Date.now())} />
        <button
          type="button"
          aria-pressed={isPaused.value}
          title="p"
          onClick={() => {
            isPaused.value = !isPaused.value;
          }}
        >
          {isPaused.value ? '▶ Continue' : '▮▮ Pause'}
        </button>
      </header>
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
      <div
        class="live-rows"
        onPointerEnter={() => {
          isHeld.value = true;
        }}
        onPointerLeave={() => {
          isHeld.value = false;
        }}
        onFocusCapture={() => {
          isHeld.value = true;
        }}
        onBlurCapture={() => {
          isHeld.value = false;
        }}
      >
        {waiting > 0 && (
          <button type="button" class="live-waiting" onClick={show}>
            {waiting} new
          </button>
        )}
        {rows.length === 0 && failure.value === undefined && <NoCalls />}
        {rows.length > 0 && <Rows rows={rows} />}
      </div>
    </div>
  );
}

const states = {
  off: 'not connected',
  connecting: 'connecting…',
  open: 'connected',
  refused: 'this key may not read events',
  lost: 'connection lost',
} as const;

function Summary({ running, calls: rate, usdPerHour }: { running: number } & ReturnType<LiveCalls['rate']>) {
  const { state } = connection.value;
  return (
    <p class="live-summary">
      <span class={state === 'open' ? 'live-dot is-open' : 'live-dot'} aria-hidden="true" />
      <span class={state === 'open' ? 'for-readers' : undefined}>{states[state]}</span>
      <b>{running} running</b> · {briefRate(rate)}/s · {briefDollars(usdPerHour)}/h
    </p>
  );
}

function NoCalls() {
  return (
    <div class="empty">
      <p>No calls yet. Those of your programs appear here as they run, such as that of:</p>
      <pre>
        <Typed>gateway respond "Hello!"</Typed>
      </pre>
    </div>
  );
}

function Rows({ rows }: { rows: readonly CallRow[] }) {
  const keyNames = useKeyNames();
  return (
    <Table
      label="Calls"
      columns={columnsFor(keyNames)}
      rows={rows}
      keyOf={idOf}
      open={({ id, status }) => status !== 'running' && navigate(hrefOf('calls', [id]))}
      hasMore={false}
      onEnd={nothing}
    />
  );
}

const idOf = ({ id }: CallRow) => id;
const nothing = () => {};

const liveFields = callFields.filter(({ lists }) => lists === 'live' || lists === 'both');

function columnsFor(keyNames: KeyNames): TableColumn<CallRow>[] {
  return fieldColumns(
    liveFields,
    { now: Date.now(), keyNames },
    {
      kinds: callKinds,
      seconds: liveSeconds,
      cells: {
        created_at: ({ at }) => <Time at={new Date(at).toISOString()} />,
        status: ({ id, status, errorCode, model }) => (
          <>
            <Status status={status} code={errorCode} />
            {status === 'running' && <CancelButton id={id} model={model} />}
          </>
        ),
        model: ({ id, status, model, key, provider, reason }) => (
          <>
            {status === 'running' ? (
              <b>{model}</b>
            ) : (
              <a href={hrefOf('calls', [id])}>{model || 'no model'}</a>
            )}
            {reason && <span class="quiet live-reason"> {reason}</span>}
            <span class="second-line">
              {[key && keyText(key, keyNames), provider].filter(Boolean).join(' · ')}
            </span>
          </>
        ),
      },
    },
  );
}

/** Ends a running call for its client, too; the row then says so. */
function CancelButton({ id, model }: { id: string; model: string }) {
  const cancel = () =>
    call(cancelCall, { params: { request_id: id } }).then(
      ({ canceled }) => toast(canceled ? 'The call was canceled.' : 'The call was over already.'),
      (error: unknown) => toast(problemOf(error).sentence),
    );
  return (
    <button
      type="button"
      class="as-link live-cancel"
      aria-label={`Cancel the call of ${model}`}
      onClick={(event) => {
        event.stopPropagation();
        void cancel();
      }}
    >
      cancel
    </button>
  );
}
