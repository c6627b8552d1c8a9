import { signal } from '@preact/signals';

const query = matchMedia('(max-width: 900px)');

/** Whether the page has room for one column only. */
export const isNarrow = signal(query.matches);

query.addEventListener('change', ({ matches }) => {
  isNarrow.value = matches;
});
