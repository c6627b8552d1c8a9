import { signal } from '@preact/signals';

const stepMs = 60_000;

/** The time in milliseconds since 1970, renewed once a minute while the page is visible. */
export const now = signal(Date.now());

function renew(): void {
  if (document.visibilityState === 'visible' && Date.now() - now.peek() >= stepMs) now.value = Date.now();
}

setInterval(renew, stepMs / 4);
document.addEventListener('visibilitychange', renew);
