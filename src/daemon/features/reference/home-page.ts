import { html, Markup } from './markup.ts';

/** The page at `/`: what answers here, and where its reference is. */
export function homePage({
  title,
  version,
  style,
}: {
  title: string;
  version: string;
  style: string;
}): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<style>${new Markup(style)}</style>
</head>
<body class="home">
<main>
<h1>${title} <small>${version}</small></h1>
<p>This address answers model calls in the formats of OpenAI’s Responses and Chat Completions APIs.</p>
<p><a class="button" href="/docs">API reference</a> <a href="/v1/openapi.json">openapi.json</a> · <a href="/v1/models">models</a> · <a href="/v1/rates">prices</a></p>
<p>Clients use this address followed by <code>/v1</code> as their base URL, and need a key. On the machine itself:</p>
<pre><code>gateway keys default        # print the default key
gateway respond "Hello!"    # send a prompt to a model
gateway                     # watch requests as they arrive</code></pre>
</main>
</body>
</html>
`.text;
}
