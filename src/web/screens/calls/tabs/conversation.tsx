import type { TraceView } from '../../../../shared/contract/traces.ts';
import { bodyView } from '../../../data/preferences.ts';
import { hrefOf, route } from '../../../data/route.ts';
import { Parameters, Passages } from '../../../parts/passages.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { NotKept, useBody } from './body.tsx';

/** What was asked last and what was answered; what was said before is folded above. */
export function ConversationTab({ trace }: { trace: TraceView }) {
  const request = useBody(trace, 'request');
  const answer = useBody(trace, 'answer');
  if (request.error !== undefined) return <NotKept trace={trace} error={request.error} />;
  if (request.text === undefined && request.isLoading) return <Skeleton />;
  const isFormatted = bodyView.value === 'markdown';
  const said = request.conversation;
  const answered = answer.conversation;
  return (
    <>
      {said ? (
        <Passages conversation={{ ...said, parameters: [] }} isFormatted={isFormatted} isFolded />
      ) : (
        <Elsewhere part="request" isLoading={request.isLoading} />
      )}
      <section class="answer-part" aria-label="What was answered">
        {answered ? (
          <Passages conversation={{ passages: answered.passages }} isFormatted={isFormatted} />
        ) : (
          <Elsewhere part="answer" isLoading={answer.isLoading} isNone={answer.text === undefined} />
        )}
      </section>
      <div class="view-bar">
        <label class="check">
          <input
            type="checkbox"
            checked={isFormatted}
            onChange={(event) => {
              bodyView.value = event.currentTarget.checked ? 'markdown' : 'conversation';
            }}
          />{' '}
          Markdown
        </label>
        {(request.text?.isPartial || answer.text?.isPartial) && (
          <span class="warn">Parts of it were deleted with another call.</span>
        )}
      </div>
      {answered && answered.parameters.length > 0 && <Parameters parameters={answered.parameters} />}
    </>
  );
}

interface ElsewhereProps {
  part: 'request' | 'answer';
  isLoading: boolean;
  isNone?: boolean;
}

/** What cannot be read as a conversation is shown as it was sent, in its own tab. */
function Elsewhere({ part, isLoading, isNone = false }: ElsewhereProps) {
  if (isLoading) return <p class="quiet">Reading the {part}…</p>;
  if (isNone) return <p class="quiet">Nothing was kept of the {part}.</p>;
  const { screen, path, query } = route.value;
  const href = hrefOf(screen, path, { ...Object.fromEntries(query), tab: part });
  return (
    <p class="quiet">
      The {part} cannot be shown as a conversation. <a href={href}>As it was sent</a>
    </p>
  );
}
