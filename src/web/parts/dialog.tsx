import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';

interface DialogProps {
  title: string;
  /** Called by the Escape key, the close button and a click beside the dialog. */
  onClose: () => void;
  /** Whether it is closed by nothing but its own removal. */
  staysOpen?: boolean;
  children: ComponentChildren;
}

/** A window over the page, which keeps the focus until it is closed and then gives it back. */
export function Dialog({ title, onClose, staysOpen = false, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useLayoutEffect(() => {
    const dialog = element.current as HTMLDialogElement;
    const before = document.activeElement;
    dialog.showModal();
    // Rather than the close button, which comes first.
    dialog.querySelector<HTMLElement>('input, select, textarea')?.focus();
    return () => {
      dialog.close();
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class="dialog"
      aria-labelledby={titleId}
      onCancel={(event) => {
        if (staysOpen) event.preventDefault();
        onClose();
      }}
      onClose={() => {
        // Browsers close it at a second Escape, whatever the first one led to.
        if (staysOpen && element.current?.isConnected) element.current.showModal();
      }}
      onMouseDown={(event) => {
        if (event.target === element.current) onClose();
      }}
    >
      <div class="dialog-body">
        <header>
          <h2 id={titleId}>{title}</h2>
          <button type="button" class="quiet-button" aria-label="Close" onClick={onClose}>
            ×
          </button>
        </header>
        {children}
      </div>
    </dialog>
  );
}
