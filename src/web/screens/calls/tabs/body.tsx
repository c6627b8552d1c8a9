import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { TraceView } from '../../../../shared/contract/traces.ts';
import { sizeText } from '../../../../shared/text/size-text.ts';
import { answerConversation, type Conversation, requestConversation } from '../../../../view/conversation.ts';
import { bodyView } from '../../../data/preferences.ts';
import { JsonTree } from '../../../parts/json-tree.tsx';
import { LongText } from '../../../parts/long-text.tsx';
import { Passages } from '../../../parts/passages.tsx';
import { ProblemBox } from '../../../parts/problem.tsx';
import { Skeleton } from '../../../parts/skeleton.tsx';
import { Typed } from '../../../parts/typed.tsx';
import { useCallText } from '../call-content.ts';

const views = ['conversation', 'markdown', 'tree', 'raw'] as const;

interface BodyProps {
  trace: TraceView;
  part: 'request' | 'answer';
  /** What is shown above the conversation. */
  extra?: (conversation: Conversation) => ComponentChildren;
}

/** A request or an answer as a conversation, with its Markdown applied, as a tree, or as it was sent. */
export function Body({ trace, part, extra }: BodyProps) {
  const { text, value, conversation, error, isLoading, readAll } = useBody(trace, part);
  const chosen = useSignal<(typeof views)[number] | undefined>(undefined);
  if (error !== undefined) return <NotKept trace={trace} error={error} />;
  if (text === undefined) return isLoading ? <Skeleton /> : <NothingKept part={part} />;
  const shown = conversation === undefined ? 'raw' : (chosen.value ?? bodyView.value);
  return (
    <>
      <div class="view-bar">
        <fieldset class="choices" aria-label="View">
          {views.map((name) => (
            <button
              key={name}
              type="button"
              aria-pressed={shown === name}
              disabled={name !== 'raw' && conversation === undefined}
              onClick={() => {
                chosen.value = name;
                if (name === 'conversation' || name === 'markdown') bodyView.value = name;
              }}
            >
              {name}
            </button>
          ))}
        </fieldset>
        <span class="quiet">{sizeText(text.bytes)}</span>
        {text.next !== null && !isLoading && (
          <button type="button" onClick={readAll}>
            Read all {sizeText(text.bytes)}
          </button>
        )}
        {text.isPartial && <span class="warn">Parts of it were deleted with another call.</span>}
      </div>
      {conversation && extra?.(conversation)}
      {(shown === 'conversation' || shown === 'markdown') && conversation && (
        <Passages conversation={conversation} isFormatted={shown === 'markdown'} isFolded />
      )}
      {shown === 'tree' && value && <JsonTree value={value.json} />}
      {shown === 'raw' && <LongText text={text.text} isCode />}
    </>
  );
}

/** The body of a request or an answer, and what it says once it is read as a whole. */
export function useBody({ request_id: id }: TraceView, part: 'request' | 'answer') {
  const reading = useCallText(id, part);
  const { text } = reading;
  const value = useMemo(() => parsed(text?.next === null ? text.text : undefined), [text]);
  const read = part === 'request' ? requestConversation : answerConversation;
  const conversation = useMemo(() => value && read(value.json), [value, read]);
  return { ...reading, value, conversation };
}

function parsed(text: string | undefined): { json: unknown } | undefined {
  if (text === undefined) return undefined;
  try {
    return { json: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

function NothingKept({ part }: { part: string }) {
  return <p class="empty">Nothing was kept of the {part}.</p>;
}

/** Content is kept in memory, for a while: that it is gone is no error. */
export function NotKept({ trace, error }: { trace: TraceView; error: unknown }) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'not_found') return <ProblemBox error={error} />;
  return (
    <div class="empty">
      <p>{whyNotKept(trace)}</p>
      <pre>
        <Typed>gateway capture</Typed>
      </pre>
    </div>
  );
}

function whyNotKept({ captured, status }: TraceView): string {
  if (captured?.state === 'deleted') return 'The content of this call is not kept: it was deleted.';
  if (captured?.state === 'expired')
    return 'The content of this call is not kept: newer calls took its place, it was too old, or the daemon was restarted.';
  return status === 'rejected'
    ? 'The content of this call is not kept: of many calls that are rejected for one reason, it is that of the first few a minute; or it was switched off.'
    : 'The content of this call is not kept: it was switched off, or more calls came than could be stored.';
}
