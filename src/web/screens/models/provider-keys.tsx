import { useSignal } from '@preact/signals';
import type { ProviderKey } from '../../../shared/contract/provider-keys.ts';
import {
  checkProviderKey,
  deleteProviderKey,
  listProviderKeys,
  putProviderKey,
} from '../../../shared/endpoints.ts';
import { type KnownProvider, knownProviders, providerFacts } from '../../../shared/known-providers.ts';
import { call } from '../../data/api.ts';
import { change, useQuery } from '../../data/query.ts';
import { ConfirmButton } from '../../parts/confirm.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogButton } from '../../parts/dialog-button.tsx';
import { Form } from '../../parts/form.tsx';
import { Panel } from '../../parts/panel.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { actions } from '../../parts/table-head.tsx';
import { Time } from '../../parts/time.tsx';
import { toast } from '../../parts/toast.tsx';

const workspace = 'me';

/** The workspace's own keys for providers, which can be written and never read. */
export function ProviderKeys() {
  const query = useQuery(listProviderKeys, { params: { workspace } });
  const rows = query.data?.data ?? [];
  return (
    <Panel
      title="Provider keys of the workspace"
      queries={[query]}
      action={{ label: 'Set a key', dialog: (close) => <SetKey onClose={close} /> }}
    >
      {rows.length === 0 ? (
        <p class="quiet">
          None. A key of your own pays calls with <code>service.pay: "mine"</code>, and those to providers
          that the host has no account with.
        </p>
      ) : (
        <DataTable
          name="provider-keys"
          columns={[
            { name: 'Provider', value: ({ provider }) => provider },
            { name: 'Fingerprint', value: ({ fingerprint }) => fingerprint },
            { name: 'Set', value: ({ updated_at: at }) => Date.parse(at) },
            actions,
          ]}
          rows={rows}
        >
          {(key) => <ProviderKeyRow key={key.provider} providerKey={key} />}
        </DataTable>
      )}
    </Panel>
  );
}

function ProviderKeyRow({ providerKey }: { providerKey: ProviderKey }) {
  const { provider, fingerprint, updated_at: updated } = providerKey;
  const checked = useSignal<{ message: string; isGood: boolean } | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const check = async () => {
    checked.value = undefined;
    failure.value = undefined;
    try {
      const { result, message } = await call(checkProviderKey, { params: { workspace, provider } });
      checked.value = { message, isGood: result === 'good' };
    } catch (error) {
      failure.value = error;
    }
  };
  return (
    <tr>
      <th scope="row" class="is-title">
        {provider}
        <span role="status" class={checked.value?.isGood ? 'ok-text sub' : 'bad sub'}>
          {checked.value?.message}
        </span>
        {failure.value !== undefined && <ProblemBox error={failure.value} />}
      </th>
      <td>
        <code title="The first twelve digits of the key’s SHA-256">{fingerprint}</code>
      </td>
      <td class="quiet">
        <Time at={updated} />
      </td>
      <td>
        <span class="row-actions">
          <button type="button" aria-label={`Check the key of ${provider}`} onClick={() => void check()}>
            Check
          </button>
          <DialogButton
            label="Replace"
            title={`Replace the key of ${provider}`}
            dialog={(close) => <SetKey provider={provider} onClose={close} />}
          />
          <ConfirmButton
            label="Delete"
            title={`Delete the key of ${provider}`}
            question={`Delete the key of ${provider}?`}
            onConfirm={async () => {
              await change(deleteProviderKey, { params: { workspace, provider } });
              toast(`The key of ${provider} was deleted.`);
            }}
          >
            <p>Calls that need it are rejected from now on.</p>
          </ConfirmButton>
        </span>
      </td>
    </tr>
  );
}

function SetKey({ provider, onClose }: { provider?: KnownProvider; onClose: () => void }) {
  return (
    <Dialog title={provider ? `The key of ${provider}` : 'Set a provider key'} onClose={onClose}>
      <Form<'provider' | 'key'>
        fields={(values) => [
          {
            name: 'provider',
            label: 'Provider',
            kind: 'choice',
            value: provider ?? 'openai',
            isFixed: provider !== undefined,
            options: knownProviders.map((name) => ({ value: name, title: name })),
          },
          {
            name: 'key',
            label: 'Key',
            kind: 'secret',
            isRequired: true,
            placeholder: `${prefixOf(values.provider ?? provider ?? 'openai')}…`,
            hint: 'It is stored sealed and never shown again.',
          },
        ]}
        action="Save"
        onCancel={onClose}
        onSubmit={async (values) => {
          const named = values.provider as KnownProvider;
          await change(putProviderKey, {
            params: { workspace, provider: named },
            body: { key: values.key.trim() },
          });
          toast(`The key of ${named} was saved.`);
          onClose();
        }}
      />
    </Dialog>
  );
}

function prefixOf(provider: string): string {
  return knownProviders.includes(provider as KnownProvider)
    ? providerFacts[provider as KnownProvider].keyPrefixes[0]
    : '';
}
