import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Hunk } from '../../../shared/comparison/text-changes.ts';
import { answerConversation, answerText } from '../../../view/conversation.ts';
import { Hunks } from '../../parts/hunks.tsx';
import type { Lane } from './lane.ts';

/** How the answer of each model differs from that of the first one. */
export function AnswerDiff({ lanes, models }: { lanes: readonly Lane[]; models: readonly string[] }) {
  const texts = lanes.map((lane) => {
    const answer = lane.outcomes.value.at(-1)?.answer;
    return answer && answerText(answerConversation(answer));
  });
  const [first] = texts;
  if (first === undefined) return null;
  return (
    <section class="panel" aria-label="Differences">
      {texts.map(
        (text, at) =>
          at > 0 &&
          text !== undefined && (
            // biome-ignore lint/suspicious/noArrayIndexKey: a lane stays where it is.
            <Difference key={at} title={`${models[0]} → ${models[at]}`} before={first} after={text} />
          ),
      )}
    </section>
  );
}

function Difference({ title, before, after }: { title: string; before: string; after: string }) {
  const hunks = useSignal<readonly Hunk[]>([]);
  useEffect(() => {
    let isWanted = true;
    void import('../../../shared/comparison/text-changes.ts').then(({ textChanges }) => {
      if (isWanted) hunks.value = textChanges(before, after);
    });
    return () => {
      isWanted = false;
    };
  }, [before, after, hunks]);
  return (
    <>
      <h2>{title}</h2>
      {before === after ? <p class="quiet">The same text.</p> : <Hunks hunks={hunks.value} />}
    </>
  );
}
