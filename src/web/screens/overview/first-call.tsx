import { useSignal } from '@preact/signals';
import { Choice } from '../../parts/choice.tsx';

const languages = { curl: 'curl', openai: 'OpenAI SDK', anthropic: 'Anthropic SDK' } as const;
type Language = keyof typeof languages;

/** How to make the first call: the address, the key and what to run. */
export function FirstCall() {
  const language = useSignal<Language>('curl');
  const base = new URL('.', location.href.replace(/#.*/s, '')).href.replace(/\/$/, '');
  const text = samples[language.value](base);
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
          <code>gateway keys default</code>
          <span class="quiet">prints it on the machine of the gateway</span>
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

const samples: Readonly<Record<Language, (base: string) => string>> = {
  curl: (base) => `curl ${base}/v1/chat/completions \\
  -H "authorization: Bearer $(gateway keys default)" \\
  -H 'content-type: application/json' \\
  -d '{"model": "sim/assistant", "messages": [{"role": "user", "content": "Hello!"}]}'`,
  openai: (base) => `# pip install openai; export GATEWAY_KEY=$(gateway keys default)
import os
from openai import OpenAI

client = OpenAI(base_url="${base}/v1", api_key=os.environ["GATEWAY_KEY"])
answer = client.chat.completions.create(
    model="sim/assistant",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  anthropic: (base) => `# pip install anthropic; export GATEWAY_KEY=$(gateway keys default)
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
