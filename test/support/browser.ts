import { type Browser, type BrowserContextOptions, chromium as driver, type Page } from 'playwright-core';
import { chromium } from './page-in-chromium.ts';

/** Starts Chromium without a window; the test file closes it. `hosts` are addresses by name. */
export async function launchBrowser(
  hosts: Record<string, string> = {},
  program = chromium,
): Promise<Browser> {
  const rules = Object.entries(hosts).map(([name, address]) => `MAP ${name} ${address}`);
  return await driver.launch({
    executablePath: program ?? '',
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-dev-shm-usage',
      `--host-resolver-rules=${rules.join(',')}`,
    ],
    // Daemons in the same process are stopped by signals.
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
  });
}

/** What must not happen on any page. */
export interface Incidents {
  /** What the policy of the page prevented. */
  violations: string[];
  /** Requests to other hosts. */
  foreign: string[];
  /** Errors that no one handled, and those that were written to the console. */
  errors: string[];
  dialogs: string[];
}

export interface WatchedPage {
  page: Page;
  incidents: Incidents;
}

/** Opens a page of its own, without what others have stored, and records what must not happen on it. */
export async function openPage(
  browser: Browser,
  origin: string,
  options: BrowserContextOptions = {},
): Promise<WatchedPage> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: 'UTC',
    ...options,
  });
  context.setDefaultTimeout(120_000);
  const page = await context.newPage();
  const incidents: Incidents = { violations: [], foreign: [], errors: [], dialogs: [] };
  await page.exposeFunction('reportViolation', (text: string) => incidents.violations.push(text));
  const reportViolations = `addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sample }) =>
    reportViolation(violatedDirective + ': ' + blockedURI + ' ' + sample))`;
  await page.addInitScript({ content: reportViolations });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !request.url().startsWith('blob:'))
      incidents.foreign.push(request.url());
  });
  page.on('pageerror', (error) => incidents.errors.push(String(error)));
  page.on('console', (message) => {
    // Answers with an error status are written by the browser itself.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      incidents.errors.push(message.text());
  });
  page.on('dialog', (dialog) => {
    incidents.dialogs.push(dialog.message());
    void dialog.dismiss();
  });
  return { page, incidents };
}

export const noIncidents: Incidents = { violations: [], foreign: [], errors: [], dialogs: [] };

/**
 * The rules of axe that another colour scheme can break, as it changes nothing but colours: those that axe tags with `cat.color`
 * and has enabled.
 */
export const colourRules = ['color-contrast', 'link-in-text-block'] as const;

/** What axe finds wrong with the page, a line each; all its enabled rules by default. */
export async function accessibilityFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  const { source } = await import('axe-core');
  // In a world of its own: the policy of the page forbids other scripts.
  const session = await page.context().newCDPSession(page);
  const { frameTree } = (await session.send('Page.getFrameTree')) as { frameTree: { frame: { id: string } } };
  const { executionContextId: contextId } = await session.send('Page.createIsolatedWorld', {
    frameId: frameTree.frame.id,
    worldName: 'axe',
  });
  // It has the script already if the document was checked before.
  const known = await session.send('Runtime.evaluate', { expression: 'typeof axe', contextId });
  if (known.result.value === 'undefined')
    await session.send('Runtime.evaluate', { expression: source, contextId });
  const options = { resultTypes: ['violations'], ...(rules && { runOnly: rules }) };
  const expression = `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`;
  const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
    expression,
    contextId,
    awaitPromise: true,
    returnByValue: true,
  });
  await session.detach();
  if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
  return result.value as string[];
}
