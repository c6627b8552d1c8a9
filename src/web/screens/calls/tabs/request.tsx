import type { TraceView } from '../../../../shared/contract/traces.ts';
import { Body } from './body.tsx';

export function Request({ trace }: { trace: TraceView }) {
  return (
    <>
      {trace.dropped.length > 0 && (
        <p class="warn">
          Did not reach the model: {trace.dropped.map((one) => JSON.stringify(one)).join(', ')}
        </p>
      )}
      <Body trace={trace} part="request" />
    </>
  );
}
