import { useLayoutEffect } from 'preact/hooks';

/** What keys do on the whole page: one letter, `g` and a letter, or `Ctrl-` and a letter, which is Command on a Mac. */
type KeyActions = Readonly<Record<string, () => void>>;

const layers: KeyActions[] = [];
let prefix = '';
let prefixAt = 0;
const prefixMs = 1500;

/** Adds actions until the returned function is called; the latest ones take precedence. */
export function addKeys(actions: KeyActions): () => void {
  layers.push(actions);
  return () => {
    layers.splice(layers.indexOf(actions), 1);
  };
}

/** Adds actions while a component is shown: those of its latest render, before the next key can be pressed, which a plain effect could come after. */
export function useKeys(actions: KeyActions): void {
  useLayoutEffect(() => addKeys(actions));
}

addEventListener('keydown', (event) => {
  const isControl = event.ctrlKey || event.metaKey;
  if (event.altKey || (!isControl && isTyping(event.target))) return;
  // What is behind an open dialog stays as it is.
  if (document.querySelector('dialog[open]')) return;
  const isPrefixed = !isControl && prefix !== '' && event.timeStamp - prefixAt < prefixMs;
  const key = isControl ? `Ctrl-${event.key}` : isPrefixed ? `${prefix} ${event.key}` : event.key;
  prefix = '';
  if (!isPrefixed && key === 'g') {
    prefix = 'g';
    prefixAt = event.timeStamp;
    return;
  }
  const action = layers.findLast((actions) => Object.hasOwn(actions, key))?.[key];
  if (action === undefined) return;
  event.preventDefault();
  action();
});

function isTyping(target: EventTarget | null): boolean {
  const typed = 'input:not([type=checkbox]), textarea, select, [contenteditable]';
  return target instanceof HTMLElement && target.matches(typed);
}
