import { useSignal } from '@preact/signals';

interface CopyProps {
  /** Asked when it is copied. */
  text: () => string | Promise<string>;
  label: string;
}

const shownMs = 1500;

/** A button that copies a text. */
export function CopyButton({ text, label }: CopyProps) {
  const state = useSignal('');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(await text());
      state.value = 'Copied';
    } catch {
      state.value = 'Could not copy';
    }
    setTimeout(() => {
      state.value = '';
    }, shownMs);
  };
  return (
    <button type="button" onClick={() => void copy()}>
      <span aria-live="polite">{state.value || label}</span>
    </button>
  );
}
