import { createHash } from 'node:crypto';
import { getReference } from '../../../shared/contract/reference.ts';
import { implement, RelayReply } from '../../handler.ts';

export interface ReferenceDeps {
  openApiDocument: () => unknown;
  readAssets: () => Promise<{ style: string; script: string }>;
}

/** Renders the page on the first request, as most daemons never serve it. */
export const referenceHandlers = (deps: ReferenceDeps) => {
  let rendered: Promise<RelayReply> | undefined;
  return [
    implement(getReference, async () => {
      rendered ??= renderPage(deps).catch((error) => {
        rendered = undefined;
        throw error;
      });
      const { headers, body } = await rendered;
      return new RelayReply({ ...headers }, body);
    }),
  ];
};

async function renderPage({ openApiDocument, readAssets }: ReferenceDeps): Promise<RelayReply> {
  const [{ referencePage }, assets] = await Promise.all([import('./page.ts'), readAssets()]);
  // Serialised as clients see it: schema objects have internal members.
  const description = JSON.parse(JSON.stringify(openApiDocument()));
  const page = referencePage({ description, ...assets });
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${digestOf(assets.style)}'`,
    `script-src 'sha256-${digestOf(assets.script)}'`,
    "connect-src 'self'",
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
