import { useSignal } from '@preact/signals';
import { issueKey, listKeys } from '../../../shared/endpoints.ts';
import { problemOf } from '../../data/api.ts';
import { typed } from '../../data/command.ts';
import { change, useQuery } from '../../data/query.ts';
import { Choice } from '../../parts/choice.tsx';
import { toast } from '../../parts/toast.tsx';
import { Typed } from '../../parts/typed.tsx';

const languages = { curl: 'curl', openai: 'OpenAI SDK', anthropic: 'Anthropic SDK' } as const;
type Language = keyof typeof languages;

const params = { workspace: 'me' };

/** How to make the first call: the address, a key of the workspace and what to run. */
export function FirstCall() {
  const language = useSignal<Language>('curl');
  const issued = useSignal<string | undefined>(undefined);
  const keys = useQuery(listKeys, { params, query: { limit: 100 } });
  // The command prints the first key of the host, which other workspaces do not have.
  const hasDefault =
    keys.data === undefined ||
    keys.data.data.some(({ name, status }) => name === 'default' && status === 'active');
  const base = new URL('.', location.href.replace(/#.*/s, '')).href.replace(/\/$/, '');
  const text = samples[language.value](
    base,
    issued.value ?? (hasDefault ? typed('$(gateway keys default)') : 'KEY'),
  );
  const issue = async () => {
    try {
      issued.value = (await change(issueKey, { params, body: { name: 'first' } })).secret;
    } catch (error) {
      toast(problemOf(error).sentence);
    }
  };
  return (
    <section class="panel first-call" aria-label="Make the first call">
      <header>
        <h2>Make the first call</h2>
      </header>
      <dl>
        <dt>Base URL</dt>
        <dd>
          <code>{base}/v1</code>
          <CopyButton text={`${base}/v1`} what="the base URL" />
        </dd>
        <dt>Key</dt>
        <dd>
          {issued.value !== undefined && (
            <>
              <code>{issued.value}</code>
              <CopyButton text={issued.value} what="the key" />
              <span class="quiet">It is shown only now.</span>
            </>
          )}
          {issued.value === undefined && hasDefault && (
            <>
              <Typed>gateway keys default</Typed>
              <span class="quiet">prints it on the machine of the gateway</span>
            </>
          )}
          {issued.value === undefined && !hasDefault && (
            <>
              <button type="button" onClick={() => void issue()}>
                Issue a key
              </button>
              <span class="quiet">of this workspace, for the sample below</span>
            </>
          )}
        </dd>
        <dt>Model</dt>
        <dd>
          <code>sim/assistant</code>
          <span class="quiet">is simulated and needs no provider</span>
        </dd>
      </dl>
      <Choice
        label="Client"
        options={Object.entries(languages).map(([value, title]) => ({ value: value as Language, title }))}
        value={language.value}
        onChange={(value) => {
          language.value = value;
        }}
      />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, also by keys. */}
      <pre tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what="the sample" />
      <p class="quiet">The call appears here as soon as it has ended.</p>
    </section>
  );
}

function CopyButton({ text, what }: { text: string; what: string }) {
  const isDone = useSignal(false);
  return (
    <button
      type="button"
      aria-label={`Copy ${what}`}
      onClick={async () => {
        await navigator.clipboard.writeText(text);
        isDone.value = true;
      }}
    >
      {isDone.value ? 'Copied' : 'Copy'}
    </button>
  );
}

const samples: Readonly<Record<Language, (base: string, key: string) => string>> = {
  curl: (base, key) => `curl ${base}/v1/chat/completions \\
  -H "authorization: Bearer ${key}" \\
  -H 'content-type: application/json' \\
  -d '{"model": "sim/assistant", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  openai: (base, key) => `# pip install openai; export GATEWAY_KEY=${key}
import os
from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key=os.environ["GATEWAY_KEY"])
answer = client.chat.completions.create(
    model="sim/assistant",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  anthropic: (base, key) => `# pip install anthropic; export GATEWAY_KEY=${key}
import os
from anthropic import Anthropic

client = Anthropic(base_url="${base}", api_key=os.environ["GATEWAY_KEY"])
answer = client.messages.create(
    model="sim/assistant",
    max_tokens=1024,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.content[0].text)`,
};
