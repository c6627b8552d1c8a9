import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
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
  id: string;
  part: 'request' | 'answer';
  /** What is shown above the conversation. */
  extra?: (conversation: Conversation) => ComponentChildren;
}

/** A request or an answer as a conversation, with its Markdown applied, as a tree, or as it was sent. */
export function Body({ id, part, extra }: BodyProps) {
  const { text, error, isLoading, readAll } = useCallText(id, part);
  const chosen = useSignal<(typeof views)[number] | undefined>(undefined);
  const value = useMemo(() => parsed(text?.next === null ? text.text : undefined), [text]);
  const read = part === 'request' ? requestConversation : answerConversation;
  const conversation = useMemo(() => value && read(value.json), [value, read]);
  if (error !== undefined) return <NotKept error={error} />;
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
        <Passages conversation={conversation} isFormatted={shown === 'markdown'} />
      )}
      {shown === 'tree' && value && <JsonTree value={value.json} />}
      {shown === 'raw' && <LongText text={text.text} isCode />}
    </>
  );
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
export function NotKept({ error }: { error: unknown }) {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code !== 'not_found') return <ProblemBox error={error} />;
  return (
    <div class="empty">
      <p>
        The content of this call is not kept: it was switched off, newer calls took its place, or it was one
        of many that were rejected at once, of which only some are kept.
      </p>
      <pre>
        <Typed>gateway capture</Typed>
      </pre>
    </div>
  );
}
