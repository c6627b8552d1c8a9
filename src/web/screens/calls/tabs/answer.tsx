import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { TraceView } from '../../../../shared/contract/traces.ts';
import { sizeText } from '../../../../shared/text/size-text.ts';
import { answerText } from '../../../../view/conversation.ts';
import { duration } from '../../../../view/durations.ts';
import { LongText } from '../../../parts/long-text.tsx';
import { useContent } from '../call-content.ts';
import { Body } from './body.tsx';

/** The answer, and how it came. */
export function Answer({ trace }: { trace: TraceView }) {
  const id = trace.request_id;
  return (
    <Body
      trace={trace}
      part="answer"
      extra={(conversation) => trace.streamed && <Playback id={id} text={answerText(conversation)} />}
    />
  );
}

const speeds = [1, 4, 16] as const;

/** A stream as its reader saw it: each piece at the time at which it came from the provider. */
function Playback({ id, text }: { id: string; text: string }) {
  const { data } = useContent(id, { part: 'timing' });
  const at = useSignal<number | undefined>(undefined);
  const speed = useSignal<number>(0);
  const reads = data?.reads ?? [];
  const end = reads.at(-1)?.ms ?? 0;
  useEffect(() => {
    const rate = speed.value;
    if (rate === 0) return;
    let before = performance.now();
    let frame = requestAnimationFrame(function step(now) {
      const position = (at.value ?? 0) + (now - before) * rate;
      before = now;
      at.value = Math.min(end, position);
      if (position >= end) speed.value = 0;
      else frame = requestAnimationFrame(step);
    });
    return () => cancelAnimationFrame(frame);
  }, [speed.value, end, at, speed]);
  if (reads.length < 2) return null;
  const position = at.value ?? end;
  const come = reads.filter(({ ms }) => ms <= position);
  const characters = come.reduce((sum, read) => sum + read.characters, 0);
  const bytes = come.reduce((sum, read) => sum + read.bytes, 0);
  return (
    <section class="playback" aria-label="The stream as it came">
      <div class="view-bar">
        {speeds.map((rate) => (
          <button
            key={rate}
            type="button"
            aria-pressed={speed.value === rate}
            onClick={() => {
              if (speed.value === rate) speed.value = 0;
              else {
                if (position >= end) at.value = 0;
                speed.value = rate;
              }
            }}
          >
            {speed.value === rate ? '▮▮' : '▶'} {rate}×
          </button>
        ))}
        <input
          type="range"
          min={0}
          max={end}
          step="any"
          aria-label="Time in the stream"
          aria-valuetext={duration(position)}
          value={position}
          onInput={(event) => {
            speed.value = 0;
            at.value = Number(event.currentTarget.value);
          }}
        />
        <span class="quiet">
          {duration(position)} · piece {come.length} of {reads.length} · {sizeText(bytes)}
        </span>
      </div>
      {at.value !== undefined && position < end && <LongText text={text.slice(0, characters)} />}
    </section>
  );
}
