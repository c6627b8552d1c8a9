import type { TraceView } from '../../../../shared/contract/traces.ts';
import { hookSteps, stepNames } from '../../../../view/call-steps.ts';
import { duration } from '../../../../view/durations.ts';
import { speed, tokenRate } from '../../../../view/numbers.ts';
import { Composition } from './composition.tsx';
import { UsualLatency } from './usual-latency.tsx';

interface Span {
  label: string;
  from: number;
  to: number;
  tone: string;
  note: string;
}

/** What happened when, and what filled the context. */
export function Timeline({ trace }: { trace: TraceView }) {
  const spans = spansOf(trace);
  const end = Math.max(1, ...spans.map(({ to }) => to));
  return (
    <>
      <section class="waterfall" aria-label="Waterfall">
        <ol>
          {spans.map(({ label, from, to, tone, note }, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: spans of a call do not change.
            <li key={at}>
              <span class="span-label" title={label}>
                {label}
              </span>
              <span class="span-track" aria-hidden="true">
                <span
                  class={`span-bar ${tone}`}
                  style={{ left: `${(from / end) * 100}%`, width: `${((to - from) / end) * 100}%` }}
                />
              </span>
              <span class="span-note">{note}</span>
              <span class="span-time">{duration(to - from)}</span>
            </li>
          ))}
        </ol>
      </section>
      <UsualLatency trace={trace} />
      <Composition trace={trace} />
    </>
  );
}

function spansOf(trace: TraceView): Span[] {
  const {
    admitted_ms: admitted,
    held_ms: held,
    first_token_ms: first,
    total_ms: total,
    settled_ms: settled,
  } = trace.timings;
  const rate = tokenRate(trace);
  const spans: Span[] = hookSteps(trace).map(({ tone, ...step }) => ({ ...step, tone: tone ?? 'own' }));
  if (admitted !== null)
    spans.push({ label: stepNames.admitted, from: 0, to: admitted, tone: 'own', note: '' });
  for (const { name, position, started_ms: from, ms } of trace.waits)
    spans.push({
      label: stepNames.queued,
      from,
      to: from + ms,
      tone: 'wait',
      note: `position ${position} at ${name}`,
    });
  if (admitted !== null && held !== null)
    spans.push({
      label: stepNames.held,
      from: admitted,
      to: Math.max(held, admitted),
      tone: 'own',
      note: '',
    });
  for (const {
    provider,
    model,
    status,
    error_code: code,
    started_ms: start,
    ended_ms: ended,
  } of trace.attempts) {
    if (start === null) continue;
    const note = code === null ? 'first byte' : `${status || ''} ${code}`.trim();
    spans.push({
      label: `${provider} · ${model}`,
      from: start,
      to: ended ?? total,
      tone: code === null ? 'wait' : 'bad',
      note,
    });
  }
  if (first !== null)
    spans.push({
      label: trace.streamed ? 'stream' : 'answer',
      from: Math.min(first, total),
      to: total,
      tone: 'answer',
      note: rate === undefined ? '' : speed(rate),
    });
  if (settled !== null)
    spans.push({
      label: stepNames.settled,
      from: Math.min(total, settled),
      to: settled,
      tone: 'own',
      note: '',
    });
  if (spans.length === 0)
    spans.push({ label: trace.status, from: 0, to: total, tone: 'bad', note: trace.error_code ?? '' });
  return spans;
}
