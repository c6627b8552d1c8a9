import { useSignal } from '@preact/signals';
import { getConfiguration } from '../../../shared/endpoints.ts';
import { maskText } from '../../../shared/masking/mask-text.ts';
import { withoutPersonalData } from '../../../shared/masking/personal-data.ts';
import { type RedactionKind, redactionKinds, removedMark } from '../../../shared/masking/redaction-kinds.ts';
import { useQuery } from '../../data/query.ts';
import { LongText } from '../../parts/long-text.tsx';
import { Panel } from '../../parts/panel.tsx';

const kindTitles: Readonly<Record<RedactionKind, string>> = {
  email: 'E-mail addresses',
  card: 'Card numbers',
  phone: 'Telephone numbers',
};

const example =
  'Mail ada@example.com or call +49 30 1234567; card 4111 1111 1111 1111, key sk-proj-aB3dE5fG7hJ9kL1m.';

/** What would be removed from a text before it is kept; the text stays in the browser. */
export function RedactionPreview() {
  const { data } = useQuery(getConfiguration, {});
  const setting = (name: string) => data?.settings.find((one) => one.name === name)?.value;
  const configured = listOf(setting('capture.redact'));
  const patterns = listOf(setting('capture.redact_patterns')).length;
  const text = useSignal(example);
  const chosen = useSignal<readonly string[] | undefined>(undefined);
  const active = redactionKinds.filter((kind) => (chosen.value ?? configured).includes(kind));
  const { clean, found } = redacted(text.value, active);
  return (
    <Panel title="Redaction">
      <p>
        Credentials are always removed. <code>capture.redact</code> of the configuration says what else is:
      </p>
      <p class="checks">
        {redactionKinds.map((kind) => (
          <label key={kind}>
            <input
              type="checkbox"
              checked={active.includes(kind)}
              onChange={(event) => {
                const others = active.filter((one) => one !== kind);
                chosen.value = event.currentTarget.checked ? [...others, kind] : others;
              }}
            />
            {kindTitles[kind]}
            {configured.includes(kind) && <span class="quiet"> (configured)</span>}
          </label>
        ))}
      </p>
      <div class="redaction">
        <label>
          <span class="quiet">Try it on a text, which stays in the browser</span>
          <textarea
            rows={5}
            spellcheck={false}
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        <section aria-label="What is kept">
          <span class="quiet">What is kept</span>
          <div class="redacted">
            <LongText text={clean} isCode />
          </div>
        </section>
      </div>
      <p class="quiet" role="status">
        {found.length === 0 ? 'Nothing is removed.' : `Removed: ${found.join(', ')}.`}
        {patterns > 0 &&
          ` The daemon also removes what ${patterns === 1 ? 'the pattern' : `the ${patterns} patterns`} of the configuration match.`}
      </p>
    </Panel>
  );
}

function redacted(text: string, kinds: readonly RedactionKind[]): { clean: string; found: string[] } {
  const found = new Map<string, number>();
  const add = (kind: string) => found.set(kind, (found.get(kind) ?? 0) + 1);
  const safe = maskText(text);
  if (safe !== text) add('credential');
  const clean = withoutPersonalData(safe, kinds, (kind) => {
    add(kind);
    return removedMark(kind);
  });
  return { clean, found: [...found].map(([kind, times]) => (times > 1 ? `${times} × ${kind}` : kind)) };
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
