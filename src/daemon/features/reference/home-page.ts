import { html, htmlDocument } from './markup.ts';

/** The page at `/`: what answers here, and where its reference is. */
export function homePage({
  title,
  version,
  style,
}: {
  title: string;
  /** Of the program. */
  version: string;
  style: string;
}): string {
  const body = html`<main>
<h1>${title} <small>${version}</small></h1>
<p>This address answers model calls in the formats of OpenAI’s Responses and Chat Completions APIs and of Anthropic’s Messages API.</p>
<p><a class="button" href="/docs">API reference</a> <a href="/v1/openapi.json">openapi.json</a> · <a href="/v1/models">models</a> · <a href="/v1/rates">prices</a></p>
<p>Clients use this address followed by <code>/v1</code> as their base URL, and need a key. On the machine itself:</p>
<pre><code>gateway keys default      # the default key
gateway respond "Hello!"  # ask a model
gateway                   # watch requests</code></pre>
</main>`;
  return htmlDocument({ title, style, bodyClass: 'home', body });
}
