import { getReference } from '../../../shared/contract/reference.ts';
import { implement, RelayReply } from '../../handler.ts';

export interface ReferenceDeps {
  /** The description of the whole API; asked for once. */
  openApiDocument: () => unknown;
  /** The page's own style and script. */
  readAssets: () => Promise<{ style: string; script: string }>;
  /** SHA-256 in Base64. */
  digest: (text: string) => string;
}

/** The page is made when it is first asked for: most daemons are never asked. */
export const referenceHandlers = (deps: ReferenceDeps) => {
  let made: Promise<RelayReply> | undefined;
  return [
    implement(getReference, async () => {
      made ??= makePage(deps).catch((error) => {
        made = undefined;
        throw error;
      });
      const { headers, body } = await made;
      return new RelayReply({ ...headers }, body);
    }),
  ];
};

async function makePage({ openApiDocument, readAssets, digest }: ReferenceDeps): Promise<RelayReply> {
  const [{ referencePage }, assets] = await Promise.all([import('./page.ts'), readAssets()]);
  // Through JSON, as everybody else sees it: schemas carry members of their library's own.
  const description = JSON.parse(JSON.stringify(openApiDocument()));
  const page = referencePage({ description, ...assets });
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${digest(assets.style)}'`,
    `script-src 'sha256-${digest(assets.script)}'`,
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
