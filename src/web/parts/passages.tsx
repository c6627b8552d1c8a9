import { useSignal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import type { Block, Conversation } from '../../view/conversation.ts';
import { Picture } from './image.tsx';
import { LongText } from './long-text.tsx';

interface PassagesProps {
  conversation: Conversation;
  /** Whether the Markdown of texts is applied. */
  isFormatted?: boolean;
}

/** The messages of a conversation, as text. */
export function Passages({ conversation, isFormatted = false }: PassagesProps) {
  const { passages, tools, parameters } = conversation;
  return (
    <div class="conversation">
      {parameters.length > 0 && (
        <dl class="parameters">
          {parameters.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>{shortText(value)}</dd>
            </div>
          ))}
        </dl>
      )}
      {tools.length > 0 && (
        <details class="tools">
          <summary>{tools.length === 1 ? '1 tool' : `${tools.length} tools`}</summary>
          {tools.map((tool, at) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: tools may have equal names.
            <details key={at}>
              <summary>
                <code>{tool.name}</code> <span class="quiet">{tool.description.slice(0, 160)}</span>
              </summary>
              <LongText text={tool.text} isCode />
            </details>
          ))}
        </details>
      )}
      {passages.map(({ role, blocks }, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: messages do not change.
        <article key={at} class={`passage ${role}`} aria-label={role}>
          <h2>{role}</h2>
          <div class="blocks">
            {blocks.map((block, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: as above.
              <OneBlock key={index} block={block} isFormatted={isFormatted} />
            ))}
          </div>
        </article>
      ))}
    </div>
  );
}

const labels = { reasoning: 'reasoning', call: 'calls', result: 'result', file: 'file', other: '' } as const;

function OneBlock({ block: { kind, name, text }, isFormatted }: { block: Block; isFormatted: boolean }) {
  if (kind === 'text') return isFormatted ? <FormattedText text={text} /> : <LongText text={text} />;
  if (kind === 'image') return <Picture url={text} />;
  return (
    <div class={`block ${kind}`}>
      <p class="block-label">
        {labels[kind]} {name && <code>{name}</code>}
      </p>
      {text !== '' && <LongText text={text} isCode={kind !== 'reasoning'} />}
    </div>
  );
}

/** Its reader of Markdown is loaded when it is first needed. */
function FormattedText({ text }: { text: string }) {
  const loaded = useSignal<ComponentType<{ text: string }> | undefined>(undefined);
  useEffect(() => {
    void import('./markdown.tsx').then(({ Markdown }) => {
      loaded.value = Markdown;
    });
  }, [loaded]);
  const Markdown = loaded.value;
  return Markdown ? <Markdown text={text} /> : <LongText text={text} />;
}

const shortMax = 200;

function shortText(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return text.length > shortMax ? `${text.slice(0, shortMax)}…` : text;
}
