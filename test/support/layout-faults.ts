import type { Page } from 'playwright-core';

/** What does not fit the window, a line each: parts beyond its edges, controls that cannot be clicked, and text that is cut. */
export async function layoutFaults(
  page: Page,
  { rowsMax = 10 }: { rowsMax?: number } = {},
): Promise<string[]> {
  return (await page.evaluate(`(${findFaults})(${rowsMax})`)) as string[];
}

/** Runs in the page, as text: the types of browsers are not those of this program. */
const findFaults = String.raw`(rowsMax) => {
  const faults = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) faults.push('is ' + root.scrollWidth + ' px wide');
  const scope = document.querySelector('dialog[open]') ?? document.body;
  const nameOf = (element) =>
    element.tagName.toLowerCase() +
    (typeof element.className === 'string' && element.className ? '.' + element.className.trim().replace(/\s+/g, '.') : '') +
    ' "' + (element.getAttribute('aria-label') ?? element.textContent ?? '').trim().slice(0, 60) + '"';
  const isSpared = (element) => {
    const row = element.closest('tbody > tr');
    return row !== null && [...row.parentElement.children].indexOf(row) >= rowsMax;
  };
  const isShown = (element) =>
    element.checkVisibility({ visibilityProperty: true, opacityProperty: true }) &&
    element.getClientRects().length > 0 &&
    !isSpared(element);
  // Beyond an edge that nothing scrolls to.
  const outside = new Set();
  for (const element of scope.querySelectorAll('*')) {
    if (element.closest('.skip, .for-readers, svg, canvas') || !isShown(element)) continue;
    const box = element.getBoundingClientRect();
    if (box.width < 2 || (box.right <= innerWidth + 1 && box.left >= -1)) continue;
    let around = element.parentElement;
    while (around && getComputedStyle(around).overflowX === 'visible') around = around.parentElement;
    if (around && around !== document.body && around !== root) continue;
    outside.add(element);
    // Its largest part says where.
    if (!outside.has(element.parentElement)) faults.push(nameOf(element) + ' is outside');
  }
  const places = [...document.querySelectorAll('*')].filter(({ scrollTop, scrollLeft }) => scrollTop || scrollLeft)
    .map((element) => [element, element.scrollLeft, element.scrollTop]);
  for (const control of scope.querySelectorAll('a[href], button, input, select, textarea, summary')) {
    if (!control.isConnected || control.disabled || control.closest('.skip, .for-readers') || !isShown(control)) continue;
    control.scrollIntoView({ block: 'center', inline: 'center', behavior: 'instant' });
    const boxes = [...control.getClientRects()];
    const { left, top, width, height } = boxes[0];
    if (width < 2 || height < 2) continue;
    const [x, y] = [left + width / 2, top + height / 2];
    const found = document.elementFromPoint(x, y);
    const isIt = found !== null && (control.contains(found) || found.closest('label')?.control === control ||
      (control.labels && [...control.labels].some((label) => label.contains(found))));
    if (!isIt && !found?.closest('.uplot'))
      faults.push(nameOf(control) + ' is covered by ' + (found ? nameOf(found) : 'nothing, outside at ' + Math.round(x) + ', ' + Math.round(y)));
  }
  scrollTo(0, 0);
  for (const [element, x, y] of places) element.scrollTo(x, y);
  const hasTitle = (element) => element.closest('[title]') !== null || element.querySelector('[title]') !== null;
  for (const cell of scope.querySelectorAll('td, th, td *, th *')) {
    if (!isShown(cell) || cell.closest('.for-readers') || cell.scrollWidth <= cell.clientWidth + 1) continue;
    const { overflowX, textOverflow, display } = getComputedStyle(cell);
    if (display === 'inline' || cell.clientWidth === 0 || overflowX === 'auto' || overflowX === 'scroll') continue;
    if (overflowX === 'visible') continue;
    if (cell.closest('.number, .cost, .total, .time') !== null)
      faults.push(nameOf(cell) + ' is a figure that is cut');
    else if (!hasTitle(cell)) faults.push(nameOf(cell) + ' is cut and has no title');
  }
  for (const box of scope.querySelectorAll('.table-box'))
    if (isShown(box) && box.scrollWidth > box.clientWidth + 1)
      faults.push('the table ' + nameOf(box).slice(0, 40) + ' is ' + box.scrollWidth + ' px wide in ' + box.clientWidth);
  return [...new Set(faults)].slice(0, 30);
}`;
