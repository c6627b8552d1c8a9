import { rangeQuery } from './custom-range.ts';
import { setQuery } from './route.ts';

/** Shows a period on the present screen; the browser's back button returns to the one before. */
export function zoomTo(since: number, until: number): void {
  setQuery({ ...rangeQuery({ since, until }), range: undefined, per: undefined }, { replace: false });
}
