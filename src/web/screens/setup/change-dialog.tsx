import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import type { ConfigChange, ConfigurationPreview } from '../../../shared/contract/configuration.ts';
import { changeConfiguration, previewConfiguration } from '../../../shared/endpoints.ts';
import { call } from '../../data/api.ts';
import { change } from '../../data/query.ts';
import { Dialog } from '../../parts/dialog.tsx';
import type { Field } from '../../parts/field-types.ts';
import { Form, type FormValues } from '../../parts/form.tsx';
import { Hunks } from '../../parts/hunks.tsx';
import { ProblemBox } from '../../parts/problem.tsx';
import { toast } from '../../parts/toast.tsx';

/** A change of the configuration, and keys to seal or to delete. */
export interface Request {
  changes: ConfigChange[];
  keys?: Record<string, string | null>;
}

interface ChangeDialogProps<N extends string> {
  title: string;
  /** What is asked first; nothing: the change is shown at once. */
  fields?: readonly Field<N>[] | ((values: Readonly<Partial<FormValues<N>>>) => readonly Field<N>[]);
  toRequest: (values: FormValues<N>) => Request;
  /** Something else to request than what the fields say, such as the default. */
  other?: { title: string; request: Request };
  /** What is said when it is done: `The upstream acme was added.` */
  done: (values: FormValues<N>) => string;
  onClose: () => void;
}

interface Shown<N extends string> {
  request: Request;
  preview: ConfigurationPreview;
  values: FormValues<N>;
}

/** Asks what to change, shows the lines of the file that it changes, and then writes exactly those. */
export function ChangeDialog<N extends string>(props: ChangeDialogProps<N>) {
  const { title, fields, toRequest, other, done, onClose } = props;
  const shown = useSignal<Shown<N> | undefined>(undefined);
  const failure = useSignal<unknown>(undefined);
  const show = async (request: Request, values: FormValues<N>) => {
    shown.value = { request, values, preview: await call(previewConfiguration, { body: request }) };
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when it opens.
  useLayoutEffect(() => {
    if (fields !== undefined) return;
    const values = {} as FormValues<N>;
    show(toRequest(values), values).catch((error: unknown) => {
      failure.value = error;
    });
  }, []);
  const current = shown.value;
  return (
    <Dialog title={title} onClose={onClose}>
      {fields !== undefined && (
        // Hidden, so that what was typed is still there.
        <div hidden={current !== undefined}>
          <Form
            fields={fields}
            action="Preview the change"
            onSubmit={(values) => show(toRequest(values), values)}
            onCancel={onClose}
            {...(other && {
              other: { title: other.title, run: (values) => show(other.request, values) },
            })}
          />
        </div>
      )}
      {failure.value !== undefined && <ProblemBox error={failure.value} />}
      {current && (
        <Preview
          shown={current}
          onBack={
            fields === undefined
              ? undefined
              : () => {
                  shown.value = undefined;
                }
          }
          onDone={() => {
            toast(done(current.values));
            onClose();
          }}
          onCancel={onClose}
        />
      )}
    </Dialog>
  );
}

interface PreviewProps<N extends string> {
  shown: Shown<N>;
  onBack: (() => void) | undefined;
  onDone: () => void;
  onCancel: () => void;
}

function Preview<N extends string>({
  shown: { request, preview },
  onBack,
  onDone,
  onCancel,
}: PreviewProps<N>) {
  const { diff, file, keys, linked_to: linkedTo, notes, refusal, version, warnings } = preview;
  const isEdit = diff.length > 0;
  const isNothing = !isEdit && keys.length === 0;
  const write = async () => {
    const { waiting, warnings: found } = await change(changeConfiguration, { body: { ...request, version } });
    for (const { setting, message } of found) toast(`${setting}: ${message}`);
    if (waiting.length > 0) toast(`Restart the gateway to apply ${waiting.join(', ')}.`);
    onDone();
  };
  return (
    <div class="stack">
      {isEdit && (
        <section class="change-preview" aria-label="Lines that change">
          <p>
            <code>{file}</code>
            {linkedTo !== null && (
              <>
                , a link to <code>{linkedTo}</code>
              </>
            )}
          </p>
          <Hunks hunks={diff} />
        </section>
      )}
      {keys.map((name) => (
        <p key={name}>
          {request.keys?.[name] === null ? 'Deletes the key' : 'Seals the key'} of <b>{name}</b>{' '}
          {request.keys?.[name] === null ? 'from' : 'in'} the vault.
        </p>
      ))}
      {notes.map((note) => (
        <p key={note} class="notice">
          {note}
        </p>
      ))}
      {warnings.map(({ setting, message }) => (
        <p key={`${setting} ${message}`} class="notice">
          <code>{setting}</code>: {message}
        </p>
      ))}
      {isNothing && <p class="quiet">Nothing would change.</p>}
      {isEdit && refusal !== null ? (
        <>
          <p class="problem" role="alert">
            {refusal}
          </p>
          <footer class="row-actions">
            {onBack && (
              <button type="button" onClick={onBack}>
                Back
              </button>
            )}
            <button type="button" onClick={onCancel}>
              Close
            </button>
          </footer>
        </>
      ) : (
        <Form
          fields={[]}
          action={isEdit ? 'Write it' : 'Save'}
          onSubmit={write}
          onCancel={onCancel}
          {...(onBack && { other: { title: 'Back', run: async () => onBack() } })}
        />
      )}
    </div>
  );
}
