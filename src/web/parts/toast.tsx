import { signal } from '@preact/signals';

const shownMs = 6_000;

interface Toast {
  number: number;
  text: string;
}

const toasts = signal<readonly Toast[]>([]);
let count = 0;

/** Shows for a few seconds what was done. */
export function toast(text: string): void {
  count += 1;
  const added = { number: count, text };
  toasts.value = [...toasts.value, added];
  setTimeout(() => {
    toasts.value = toasts.value.filter((one) => one !== added);
  }, shownMs);
}

/** Where toasts appear; screen readers say them when they have finished their sentence. */
export function Toasts() {
  return (
    <div class="toasts" role="status">
      {toasts.value.map(({ number, text }) => (
        <p key={number}>{text}</p>
      ))}
    </div>
  );
}
