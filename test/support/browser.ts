import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, chromium as driver, type Page } from 'playwright-core';
import { onTestFinished, type TestContext } from 'vitest';
import { exitWhenTerminated } from './exit-when-terminated.ts';
import { chromium } from './page-in-chromium.ts';

/** Starts Chromium without a window; the caller closes it. `hosts` are addresses by name. */
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
      // Pages of a context share a process, which has compiled their scripts before.
      '--renderer-process-limit=1',
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

export interface PageOptions {
  colorScheme?: 'light' | 'dark';
  viewport?: { width: number; height: number };
  /** Whether it shares nothing with pages that were opened before, such as cached files. Its process takes half a second to start. */
  isPrivate?: boolean;
  /** Opens a private page in this browser, instead of that of the tests; the caller closes it. */
  browser?: Browser;
}

/**
 * Opens a page without what others have stored, and records what must not happen on it. It is closed after the test, as are all
 * other pages.
 */
export async function openPage(origin: string, options: PageOptions = {}): Promise<WatchedPage> {
  const { browser, isPrivate = false, colorScheme = 'light', viewport = usualSize } = options;
  const context =
    browser || isPrivate ? await newContext(browser ?? (await sharedBrowser())) : await sharedContext();
  const page = await context.newPage();
  const failed: string[] = [];
  page.on('requestfailed', (request) =>
    failed.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText}`),
  );
  page.on('response', (response) => {
    if (!response.ok()) failed.push(`${response.request().method()} ${response.url()}: ${response.status()}`);
  });
  if (!browser)
    onTestFinished(async (test) => {
      await tellWhatIsShown(test, context, failed);
      await closePages(context, isPrivate);
    });
  await page.setViewportSize(viewport);
  await page.emulateMedia({ colorScheme });
  if (!browser && !isPrivate) await forget(page, origin);
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

const usualSize = { width: 1280, height: 800 };

/** Leads to this machine in the browser of the tests. */
export const hostName = 'gateway.example';

let started: Promise<Browser> | undefined;

/** The browser for the files that one process of the test run executes; it ends with that process. */
function sharedBrowser(): Promise<Browser> {
  if (!started) {
    exitWhenTerminated();
    started = launchBrowser({ [hostName]: '127.0.0.1' });
  }
  return started;
}

async function newContext(browser: Browser): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: usualSize,
    reducedMotion: 'reduce',
    locale: 'en-US',
    timezoneId: 'UTC',
  });
  context.setDefaultTimeout(120_000);
  return context;
}

let shared: Promise<BrowserContext> | undefined;

/** Its first page stays open, so that the process that draws the pages of an origin does not end with the last of them. */
function sharedContext(): Promise<BrowserContext> {
  shared ??= sharedBrowser().then(async (browser) => {
    const context = await newContext(browser);
    await context.newPage();
    return context;
  });
  return shared;
}

/** Adds to the error of a test that failed what its pages show, and the requests that failed. */
async function tellWhatIsShown(
  { task }: TestContext,
  context: BrowserContext,
  failed: readonly string[],
): Promise<void> {
  const [error] = task.result?.errors ?? [];
  if (!error) return;
  for (const page of context.pages().filter((each) => each.url() !== 'about:blank')) {
    const shown = await page.locator('body').innerText({ timeout: 5_000 }).catch(String);
    error.message += `\n${page.url()} shows:\n${shown.slice(0, 2_000)}`;
  }
  if (failed.length > 0) error.message += `\nfailed requests:\n${failed.join('\n')}`;
}

async function closePages(context: BrowserContext, isPrivate: boolean): Promise<void> {
  if (isPrivate) return await context.close();
  const [, ...opened] = context.pages();
  for (const page of opened) await page.close();
}

/** Deletes what pages of an origin have stored. */
async function forget(page: Page, origin: string): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'local_storage,cookies' });
  await session.detach();
}

export const noIncidents: Incidents = { violations: [], foreign: [], errors: [], dialogs: [] };

/**
 * The rules of axe that another colour scheme can break, as it changes nothing but colours: those that axe tags with `cat.color`
 * and has enabled.
 */
export const colourRules = ['color-contrast', 'link-in-text-block'] as const;

export interface AxeOptions {
  /** All that axe has enabled by default. */
  rules?: readonly string[] | undefined;
  /** Checks the first rows and options of each list only: axe takes longest for those that the same code draws a hundred times. */
  rowsMax?: number | undefined;
}

/** What axe finds wrong with the page, a line each. */
export async function accessibilityFaults(
  page: Page,
  { rules, rowsMax }: AxeOptions = {},
): Promise<string[]> {
  const source = await axeSource();
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
  const options = {
    resultTypes: ['violations'],
    iframes: false,
    preload: false,
    ...(rules && { runOnly: rules }),
  };
  const hidden =
    rowsMax === undefined ? '' : `:is(tbody > tr, option):nth-child(n + ${rowsMax + 1}) { display: none }`;
  const expression = `(async () => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(${JSON.stringify(hidden)});
    document.adoptedStyleSheets = [sheet];
    const { violations } = await axe.run(document, ${JSON.stringify(options)});
    document.adoptedStyleSheets = [];
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 200) + ' ' + failureSummary));
  })()`;
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

/** Minified, it is parsed in half the time. */
async function axeSource(): Promise<string> {
  return await readFile(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
}
