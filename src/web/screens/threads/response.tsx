import { deleteResponse, getResponse } from '../../../shared/endpoints.ts';
import { change, useQuery } from '../../data/query.ts';
import { hrefOf, navigate } from '../../data/route.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { CopyButton } from '../../parts/copy.tsx';
import { JsonTree } from '../../parts/json-tree.tsx';
import { Panel } from '../../parts/panel.tsx';
import { toast } from '../../parts/toast.tsx';

const listHref = hrefOf('threads', [], { show: 'responses' });

/** A stored response as the API returns it. */
export function StoredResponse({ id }: { id: string }) {
  const query = useQuery(getResponse, { params: { id }, query: {} });
  return (
    <>
      <header class="heading">
        <a href={listHref}>‹ Responses</a>
        <h1>{id}</h1>
        <ConfirmButton
          label="Delete"
          question="Delete the response?"
          onConfirm={async () => {
            await change(deleteResponse, { params: { id } });
            navigate(listHref);
            toast('The response was deleted.');
          }}
        >
          <p>Calls that name it as their previous response fail from now on.</p>
        </ConfirmButton>
      </header>
      <Panel
        title="Response"
        queries={[query]}
        tools={<CopyButton label="Copy JSON" text={() => JSON.stringify(query.data, null, 2)} />}
      >
        {query.data !== undefined && <JsonTree value={query.data} />}
      </Panel>
    </>
  );
}
