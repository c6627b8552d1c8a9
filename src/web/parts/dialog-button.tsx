import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';

export interface DialogButtonProps {
  label: string;
  /** What screen readers say, where the label alone does not name its object. */
  title?: string | undefined;
  /** Whether it is what people come for. */
  isMain?: boolean;
  dialog: (close: () => void) => ComponentChildren;
}

/** A button that opens a dialog. */
export function DialogButton({ label, title, isMain, dialog }: DialogButtonProps) {
  const isOpen = useSignal(false);
  return (
    <>
      <button
        type="button"
        class={isMain ? 'main-button' : undefined}
        aria-label={title}
        onClick={() => {
          isOpen.value = true;
        }}
      >
        {label}
      </button>
      {isOpen.value &&
        dialog(() => {
          isOpen.value = false;
        })}
    </>
  );
}
