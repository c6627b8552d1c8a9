import type { TraceView } from '../../../shared/contract/traces.ts';
import { exportTraces, getSession } from '../../../shared/endpoints.ts';
import { readText } from '../../data/call-text.ts';
import { readAll, saveText } from '../../data/download.ts';
import { useQuery } from '../../data/query.ts';
import { hrefOf, route } from '../../data/route.ts';
import { CopyButton } from '../../parts/copy.tsx';
import { Menu } from '../../parts/menu.tsx';
import { type CopyForm, copyForms } from './copy-as.ts';

/** Copies the request as a command or a program, or where the call is found. */
export function CopyMenu({ trace }: { trace: TraceView }) {
  const { request_id: id } = trace;
  const { data: session } = useQuery(getSession, {});
  const forms = Object.keys(copyForms) as CopyForm[];
  return (
    <Menu label="Copy">
      {forms.map((form) => (
        <CopyButton key={form} label={copyForms[form].title} text={() => textFor(trace, form)} />
      ))}
      <CopyButton label="Link" text={() => linkIn(session?.workspace.id)} />
      <CopyButton label="ID" text={() => id} />
      <button type="button" onClick={() => void saveHar(trace)}>
        Save as HAR
      </button>
    </Menu>
  );
}

/** The address, with the workspace that it is of: a reader of several may look at another one. */
function linkIn(workspace: string | undefined): string {
  const { screen, path, query } = route.value;
  return new URL(hrefOf(screen, path, { ...Object.fromEntries(query), workspace }), location.href).href;
}

async function textFor({ request_id: requestId, endpoint }: TraceView, form: CopyForm): Promise<string> {
  const baseUrl = new URL('.', location.href).href.replace(/\/$/, '');
  const { first, text } = await readText(requestId, 'request');
  return copyForms[form].textOf({
    baseUrl,
    requestId,
    endpoint,
    headers: first.request?.headers ?? [],
    body: text?.text ?? '',
  });
}

/** The part of a HAR document that is read here. */
interface Har {
  log: { entries: { _request_id: string }[] };
}

async function saveHar({ request_id: id, completed_at: since }: TraceView): Promise<void> {
  // Exports select by time: others may have ended in the same millisecond.
  const until = new Date(Date.parse(since) + 1).toISOString();
  const pieces = await readAll(exportTraces, { query: { format: 'har', content: 'wire', since, until } });
  const har = JSON.parse(pieces.join('')) as Har;
  har.log.entries = har.log.entries.filter((entry) => entry._request_id === id);
  saveText(`${id}.har`, JSON.stringify(har, null, 2), 'application/har+json');
}
