import { useSignal } from '@preact/signals';
import type { ScopeName } from '../../../shared/contract/endpoint.ts';
import { issueKey } from '../../../shared/endpoints.ts';
import { change } from '../../data/query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { type Field, linesOf } from '../../parts/field-types.ts';
import { Form } from '../../parts/form.tsx';
import { SecretDialog } from '../../parts/secret.tsx';
import { type LimitField, limitsFields, newLimitsIn } from './limits-fields.ts';
import { scopeHints, usualScopes } from './scopes.ts';

type IssueField = LimitField | 'name' | 'scopes';

const fields: Field<IssueField>[] = [
  { name: 'name', label: 'Name', placeholder: 'my-app', maxLength: 64 },
  {
    name: 'scopes',
    label: 'Scopes',
    kind: 'checks',
    value: usualScopes.join('\n'),
    options: Object.entries(scopeHints).map(([value, hint]) => ({ value, title: value, hint })),
  },
];

/** Issues a key and shows its secret once. */
export function IssueKey({ onClose }: { onClose: () => void }) {
  const secret = useSignal<string | undefined>(undefined);
  const issue = async (values: Record<IssueField, string>) => {
    const limits = newLimitsIn(values);
    const issued = await change(issueKey, {
      params: { workspace: 'me' },
      body: {
        ...(values.name.trim() && { name: values.name.trim() }),
        scopes: linesOf(values.scopes) as ScopeName[],
        ...(Object.keys(limits).length > 0 && { limits }),
      },
    });
    secret.value = issued.secret;
  };
  if (secret.value !== undefined)
    return <SecretDialog key="secret" title="The new key" secret={secret.value} onClose={onClose} />;
  return (
    <Dialog key="form" title="Issue a key" onClose={onClose}>
      <Form<IssueField>
        fields={(values) => [...fields, ...limitsFields(undefined, values)]}
        action="Issue the key"
        onSubmit={issue}
        onCancel={onClose}
      />
    </Dialog>
  );
}
