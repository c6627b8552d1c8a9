import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { ProblemBox } from './problem.tsx';

interface PanelProps {
  title: string;
  /** What can be chosen, at the right of the title. */
  tools?: ComponentChildren;
  /** What it is made of; without any, `children` is shown. */
  queries?: readonly PanelQuery[];
  /** A button after `tools` that opens a dialog. */
  action?: PanelAction | undefined;
  class?: string;
  children: ComponentChildren;
}

interface PanelAction {
  label: string;
  /** Whether it is what people come for. */
  isMain?: boolean;
  dialog: (close: () => void) => ComponentChildren;
}

interface PanelQuery {
  data: unknown;
  isStale: boolean;
  error: unknown;
  reload(): void;
}

/** A part of a screen with a title: what it says, that it is loading, or why it failed. */
export function Panel({ title, tools, queries = [], action, class: name = '', children }: PanelProps) {
  const isOpen = useSignal(false);
  const failed = queries.find(({ error }) => error !== undefined);
  const isLoaded = queries.every(({ data }) => data !== undefined);
  return (
    <section class={`panel ${name}`} aria-label={title} aria-busy={!isLoaded && !failed}>
      <header>
        <h2>{title}</h2>
        {tools}
        {action && (
          <button
            type="button"
            class={action.isMain ? 'main-button' : undefined}
            onClick={() => {
              isOpen.value = true;
            }}
          >
            {action.label}
          </button>
        )}
      </header>
      {failed && <ProblemBox error={failed.error} retry={failed.reload} />}
      {isLoaded ? (
        <div class={queries.some(({ isStale }) => isStale) ? 'is-stale' : ''}>{children}</div>
      ) : (
        !failed && <p class="loading">Loading…</p>
      )}
      {isOpen.value &&
        action?.dialog(() => {
          isOpen.value = false;
        })}
    </section>
  );
}
