import type { TraceView } from '../../../../shared/contract/traces.ts';
import { sizeText } from '../../../../shared/text/size-text.ts';
import { duration } from '../../../../view/durations.ts';
import { LongText } from '../../../parts/long-text.tsx';
import { Status } from '../../../parts/status.tsx';
import { contentQueries, useContent } from '../call-content.ts';
import { NotKept } from './body.tsx';
import { HeaderTable } from './raw.tsx';

/** What each provider got, and what it answered. */
export function Attempts({ trace }: { trace: TraceView }) {
  const { data, error } = useContent(trace.request_id, contentQueries.attempts);
  const sent = data?.attempts ?? [];
  if (trace.attempts.length === 0) return <p class="empty">No provider was asked.</p>;
  return (
    <>
      {trace.attempts.map((attempt, at) => {
        const {
          provider,
          model,
          status,
          error_code: code,
          message,
          started_ms: from,
          ended_ms: to,
        } = attempt;
        const wire = sent[at];
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: attempts do not change.
          <section key={at} class="attempt">
            <h2>
              {provider} <span class="quiet">{model}</span>{' '}
              <Status status={code === null ? 'completed' : 'failed'} code={code ?? String(status)} />{' '}
              <span class="quiet">{from !== null && to !== null && duration(to - from)}</span>
            </h2>
            {message && <p class="refusal">{message}</p>}
            {wire && (
              <>
                <p>
                  <code>POST {wire.url}</code>
                </p>
                <details>
                  <summary>Headers as sent</summary>
                  <HeaderTable headers={wire.headers} label="Headers as sent" />
                </details>
                {wire.body && (
                  <details>
                    <summary>Body as sent, {sizeText(wire.body.bytes)}</summary>
                    <LongText text={wire.body.text} isCode />
                  </details>
                )}
                <details>
                  <summary>Headers of the answer</summary>
                  <HeaderTable headers={wire.response_headers} label="Headers of the answer" />
                </details>
                {wire.response_body && (
                  <details open>
                    <summary>Body of the error, {sizeText(wire.response_body.bytes)}</summary>
                    <LongText text={wire.response_body.text} isCode />
                  </details>
                )}
              </>
            )}
          </section>
        );
      })}
      {error !== undefined && <NotKept trace={trace} error={error} />}
    </>
  );
}
