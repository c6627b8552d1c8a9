import { createHash } from 'node:crypto';
import { getAsset, getHome, getLoginPage, getReference } from '../../../shared/contract/reference.ts';
import { ApiError } from '../../../shared/errors.ts';
import { version } from '../../../shared/version.ts';
import { implement, RelayReply } from '../../base/handler.ts';
import type { Description } from './document.ts';

export interface ReferenceDeps {
  openApiDocument: () => unknown;
  readAssets: () => Promise<{ style: string; referenceScript: string; loginScript: string }>;
  webApp: WebApp;
  /** How commands are typed on this machine: `gateway` or `npx gateway`. */
  command: string;
}

/** The files of the dashboard. Its page is undefined where it was not built. */
export interface WebApp {
  page(command: string): Promise<RelayReply | undefined>;
  /** Undefined without a file of that name; compressed as `accept-encoding` allows. */
  asset(name: string, acceptEncoding: string | string[] | undefined): Promise<RelayReply | undefined>;
}

/** Renders each page on its first request, as most daemons never serve them. */
export const referenceHandlers = (deps: ReferenceDeps) => {
  const home = once(() => renderHome(deps));
  const login = once(() => renderLogin(deps));
  const reference = once(() => renderReference(deps));
  return [
    implement(getHome, async ({ headers }) => {
      const page = headers.accept?.includes('text/html') ? await deps.webApp.page(deps.command) : undefined;
      return (page ?? (await home())).withHeaders({ vary: 'accept' });
    }),
    implement(getAsset, async ({ params, headers }) => {
      const asset = await deps.webApp.asset(params.name, headers['accept-encoding']);
      if (asset === undefined) throw new ApiError('not_found');
      return asset;
    }),
    implement(getLoginPage, login),
    implement(getReference, reference),
  ];
};

/** Renders a page once, unless that fails; every answer is a reply of its own. */
function once(render: () => Promise<RelayReply>): () => Promise<RelayReply> {
  let rendered: Promise<RelayReply> | undefined;
  return async () => {
    rendered ??= render().catch((error) => {
      rendered = undefined;
      throw error;
    });
    const { headers, body } = await rendered;
    return new RelayReply({ ...headers }, body);
  };
}

async function renderHome({ openApiDocument, readAssets }: ReferenceDeps): Promise<RelayReply> {
  const [{ homePage }, { style }] = await Promise.all([import('./home-page.ts'), readAssets()]);
  const { info } = openApiDocument() as Description;
  return pageReply(homePage({ title: info.title, version, style }), { style });
}

async function renderLogin({ openApiDocument, readAssets }: ReferenceDeps): Promise<RelayReply> {
  const [{ loginPage }, assets] = await Promise.all([import('./login-page.ts'), readAssets()]);
  const { style, loginScript: script } = assets;
  const { info } = openApiDocument() as Description;
  return pageReply(loginPage({ title: info.title, style, script }), { style, script });
}

async function renderReference({ openApiDocument, readAssets }: ReferenceDeps): Promise<RelayReply> {
  const [{ referencePage }, assets] = await Promise.all([import('./page.ts'), readAssets()]);
  const { style, referenceScript: script } = assets;
  // Serialised as clients see it: schema objects have internal members.
  const description = JSON.parse(JSON.stringify(openApiDocument()));
  return pageReply(referencePage({ description, version, style, script }), { style, script });
}

/** A page that may use its own style and script, and call this daemon, but nothing else. */
function pageReply(page: string, { style, script }: { style: string; script?: string }): RelayReply {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${digestOf(style)}'`,
    ...(script === undefined ? [] : [`script-src 'sha256-${digestOf(script)}'`, "connect-src 'self'"]),
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return new RelayReply(
    {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cross-origin-opener-policy': 'same-origin',
      'cache-control': 'no-cache',
    },
    page,
  );
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}
