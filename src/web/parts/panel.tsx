import type { ComponentChildren } from 'preact';
import { DialogButton, type DialogButtonProps } from './dialog-button.tsx';
import { ProblemBox } from './problem.tsx';

interface PanelProps {
  title: string;
  /** What can be chosen, at the right of the title. */
  tools?: ComponentChildren;
  /** What it is made of; without any, `children` is shown. */
  queries?: readonly PanelQuery[];
  /** A button after `tools` that opens a dialog. */
  action?: DialogButtonProps | undefined;
  class?: string;
  children: ComponentChildren;
}

interface PanelQuery {
  data: unknown;
  isStale: boolean;
  error: unknown;
  reload(): void;
}

/** A part of a screen with a title: what it says, that it is loading, or why it failed. */
export function Panel({ title, tools, queries = [], action, class: name = '', children }: PanelProps) {
  const failed = queries.find(({ error }) => error !== undefined);
  const isLoaded = queries.every(({ data }) => data !== undefined);
  return (
    <section class={`panel ${name}`} aria-label={title} aria-busy={!isLoaded && !failed}>
      <header>
        <h2>{title}</h2>
        {tools}
        {action && <DialogButton {...action} />}
      </header>
      {failed && <ProblemBox error={failed.error} retry={failed.reload} />}
      {isLoaded ? (
        <div class={queries.some(({ isStale }) => isStale) ? 'is-stale' : ''}>{children}</div>
      ) : (
        !failed && <p class="loading">Loading…</p>
      )}
    </section>
  );
}
