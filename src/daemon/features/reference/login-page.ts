import { html, htmlDocument } from './markup.ts';

interface LoginPageParts {
  title: string;
  style: string;
  script: string;
}

/** The page at `/login`: turns the one-time code of a login link into an API key, or hands the link to the CLI. */
export function loginPage({ title, style, script }: LoginPageParts): string {
  const body = html`<main>
<h1>Log in to ${title}</h1>
<noscript><p>This page needs scripts. Without them, run <code>gateway login</code> in a terminal and paste the link.</p></noscript>
<p id="unencrypted" class="problem" hidden>This page was loaded without encryption, so others on the network could read your code and key. Use the address that starts with <code>https://</code>, or forward the port with <code>ssh -L</code> and open it on <code>127.0.0.1</code>.</p>
<div id="choices" hidden>
<p>A login code works once, within 15 minutes. Use it here or in a terminal.</p>
<h2>For an app: create an API key</h2>
<form id="login">
<label>Login code <input name="code" required maxlength="64" autocomplete="off" autocapitalize="characters" spellcheck="false"></label>
<p id="whose" role="status"></p>
<label>Name of the key <input name="name" required maxlength="64" value="my-app" autocomplete="off"></label>
<label>Spending limit per day in dollars <input name="cap" inputmode="decimal" pattern="[0-9]{1,7}([.][0-9]{1,9})?" title="An amount like 5 or 0.50" placeholder="none" autocomplete="off"></label>
<button type="submit">Create the key</button>
<p id="problem" class="problem" role="alert"></p>
</form>
<h2>For the command line: log in with the link</h2>
<p>Run this command and paste the link when it asks:</p>
<pre><code>gateway login</code></pre>
<p><button id="copy-link" type="button" hidden>Copy the link</button></p>
</div>
<div id="done" hidden>
<p id="issued" tabindex="-1"></p>
<p><strong>Save the key now</strong>: it is not shown again, and this page stores nothing.</p>
<pre><code id="secret"></code></pre>
<p><button id="copy-secret" type="button">Copy the key</button></p>
<p>Apps and SDKs use it with this base URL:</p>
<pre><code id="base-url"></code></pre>
<p id="left-open" class="problem" hidden>The login of this page could not be ended. See: <code>gateway sessions list</code></p>
<p><a href="/docs">API reference</a></p>
</div>
</main>`;
  return htmlDocument({ title: `Log in to ${title}`, style, script, bodyClass: 'home', body });
}
