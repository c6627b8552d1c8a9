import { useSignal } from '@preact/signals';
import type { Key } from '../../../shared/contract/keys.ts';
import { rotateKey } from '../../../shared/endpoints.ts';
import { change } from '../../data/query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import type { Field } from '../../parts/field-types.ts';
import { Form } from '../../parts/form.tsx';
import { Secret } from '../../parts/secret.tsx';

const fields: Field<'grace'>[] = [
  {
    name: 'grace',
    label: 'The old secret',
    kind: 'choice',
    value: '86400',
    options: [
      { value: '0', title: 'ends now' },
      { value: '3600', title: 'works for an hour' },
      { value: '86400', title: 'works for a day' },
      { value: '604800', title: 'works for 7 days' },
    ],
    hint: 'If it ends now, calls that run with it end, too.',
  },
];

/** Gives a key a new secret and shows it once. */
export function RotateKey({ keyView: { id, name }, onClose }: { keyView: Key; onClose: () => void }) {
  const secret = useSignal<string | undefined>(undefined);
  const rotate = async ({ grace }: Record<'grace', string>) => {
    const params = { workspace: 'me', key: id };
    const rotated = await change(rotateKey, { params, body: { grace_seconds: Number(grace) } });
    secret.value = rotated.secret;
  };
  if (secret.value !== undefined)
    return (
      <Dialog key="secret" title={`The new secret of ${name}`} onClose={onClose}>
        <Secret secret={secret.value} onDone={onClose} />
      </Dialog>
    );
  return (
    <Dialog key="form" title={`Rotate ${name}`} onClose={onClose}>
      <Form fields={fields} action="Rotate" onSubmit={rotate} onCancel={onClose}>
        <p>The key gets a new secret. Its limits and its history stay.</p>
      </Form>
    </Dialog>
  );
}
