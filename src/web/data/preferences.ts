import { effect, signal } from '@preact/signals';
import type { CsvDelimiter } from '../../shared/text/csv.ts';
import { localZone } from '../../shared/time/time-zones.ts';

export type Theme = 'system' | 'light' | 'dark';

/** A preference of this browser, kept in its storage. */
function preference(name: string, initial: string) {
  const key = `gateway.${name}`;
  const value = signal(localStorage.getItem(key) ?? initial);
  value.subscribe((text) => {
    if (text === initial) localStorage.removeItem(key);
    else localStorage.setItem(key, text);
  });
  addEventListener('storage', (event) => {
    if (event.key === key) value.value = event.newValue ?? initial;
  });
  return value;
}

export const theme = preference('theme', 'system');

/** Whether the Markdown of requests and answers is applied: `conversation` or `markdown`. */
export const bodyView = preference('view', 'markdown');

/** The zone of times and days: `local`, or the name of one, such as `UTC` and `Europe/Berlin`. */
export const zone = preference('zone', 'local');

/** The names of the columns of the list of calls, separated by commas; empty for those that are usual. */
export const callColumns = preference('columns', '');

/** What separates the cells of CSV that is saved: `comma`, or `semicolon` for spreadsheets with decimal commas. */
export const csvForm = preference('csv', 'comma');

/** Queries of calls, one a line. */
export const savedQueries = preference('queries', '');

/** The same for what writes CSV. */
export function csvDelimiter(): CsvDelimiter {
  return csvForm.value === 'semicolon' ? 'semicolon' : 'comma';
}

/** The name of the zone, also of the local one. */
export function zoneName(): string {
  return zone.value === 'local' ? localZone() : zone.value;
}

effect(() => {
  if (theme.value === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});
