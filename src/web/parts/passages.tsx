import { useSignal } from '@preact/signals';
import { type ComponentChildren, type ComponentType, Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import { type Block, type Conversation, foldedPassages, type Passage } from '../../view/conversation.ts';
import { Picture } from './image.tsx';
import { LongText } from './long-text.tsx';

interface PassagesProps {
  conversation: Pick<Conversation, 'passages'> & Partial<Conversation>;
  /** Whether the Markdown of texts is applied. */
  isFormatted?: boolean;
  /** Whether instructions, and what was said before the last turn, are folded. */
  isFolded?: boolean;
}

/** The messages of a conversation, as text. */
export function Passages({ conversation, isFormatted = false, isFolded = false }: PassagesProps) {
  const { passages, tools = [], parameters = [] } = conversation;
  const groups = isFolded ? foldedPassages(passages) : [{ title: undefined, passages }];
  return (
    <div class="conversation">
      {tools.length > 0 && (
        <Fold title={tools.length === 1 ? '1 tool' : `${tools.length} tools`}>
          {() =>
            tools.map((tool, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: tools may have equal names.
              <details key={at} class="tool">
                <summary>
                  <code>{tool.name}</code> <span class="quiet">{tool.description.slice(0, 160)}</span>
                </summary>
                <LongText text={tool.text} isCode />
              </details>
            ))
          }
        </Fold>
      )}
      {groups.map(({ title, passages: shown }, at) => {
        const articles = () =>
          shown.map((passage, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages do not change.
            <OnePassage key={index} passage={passage} isFormatted={isFormatted} />
          ));
        const key = title ?? `shown ${at}`;
        return title === undefined ? (
          <Fragment key={key}>{articles()}</Fragment>
        ) : (
          <Fold key={key} title={title}>
            {articles}
          </Fold>
        );
      })}
      {parameters.length > 0 && <Parameters parameters={parameters} />}
    </div>
  );
}

/** What is neither a message nor a tool: settings of a request, usage of an answer. */
export function Parameters({ parameters }: Pick<Conversation, 'parameters'>) {
  return (
    <dl class="parameters">
      {parameters.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{shortText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What is made only once it is opened, as it may be long. */
function Fold({ title, children }: { title: string; children: () => ComponentChildren }) {
  const isOpen = useSignal(false);
  return (
    <details
      class="fold"
      onToggle={(event) => {
        isOpen.value = event.currentTarget.open;
      }}
    >
      <summary>{title}</summary>
      {isOpen.value && <div class="conversation">{children()}</div>}
    </details>
  );
}

function OnePassage({ passage: { role, blocks }, isFormatted }: { passage: Passage; isFormatted: boolean }) {
  return (
    <article class={`passage ${role}`} aria-label={role}>
      <h2>{role}</h2>
      <div class="blocks">
        {blocks.map((block, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: messages do not change.
          <OneBlock key={index} block={block} isFormatted={isFormatted} />
        ))}
      </div>
    </article>
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
