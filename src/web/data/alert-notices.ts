import { onEvents } from './live.ts';

/** Whether the browser shows alerts also while the page is in the background. */
export function mayNotify(): boolean {
  return 'Notification' in globalThis && Notification.permission === 'granted';
}

/** Calls a function with the sentence of each alert that fires, and shows it as a notification where that is allowed. */
export function onAlerts(show: (sentence: string) => void): () => void {
  return onEvents((events) => {
    for (const { type, data } of events) {
      if (type !== 'alert.fired') continue;
      const sentence = `${data.alert}: ${data.message}`;
      show(sentence);
      // Other tabs get the event, too: those with the same tag replace each other.
      if (mayNotify() && document.visibilityState !== 'visible')
        new Notification('Gateway', { body: sentence, tag: String(data.firing) });
    }
  });
}
