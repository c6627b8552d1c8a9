// The script of the login page: exchanges a code for a login, issues a key with it, and ends the login.
const one = (selector) => document.querySelector(selector);
const form = one('#login');
const { code: codeField, name: nameField, cap: capField } = form.elements;
const submit = form.querySelector('button');

/** Of the login that the code was exchanged for; gone with the page. */
let login = '';
let user = '';

const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(location.hostname);
const isSafe = location.protocol === 'https:' || isLoopback;
one('#unencrypted').hidden = isSafe;
one('#choices').hidden = !isSafe;

// Browsers do not send what follows #, but they keep it in their history.
const link = location.href;
const [, code] = /^#([\w-]{1,64})$/.exec(location.hash) ?? [];
if (code !== undefined) {
  history.replaceState(null, '', location.pathname);
  codeField.value = code;
  one('#copy-link').hidden = false;
  copyOn(one('#copy-link'), () => link);
  // Any page can open such a link.
  if (isSafe) void showUser();
}

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  submit.disabled = true;
  one('#problem').textContent = '';
  try {
    if (login === '') await logIn();
    const issued = await issueKey();
    show(issued, await logOut());
  } catch (error) {
    one('#problem').textContent = error.message;
  } finally {
    submit.disabled = false;
  }
});

async function showUser() {
  const found = await call('POST', '/v1/sessions/preview', { code }).catch(() => undefined);
  if (found === undefined || codeField.value !== code) return;
  const { handle, name } = found.user;
  one('#whose').textContent =
    `This code is of ${handle}${name === handle ? '' : ` (${name})`}, who can see what is done with the key. Continue only if that is you.`;
}

codeField.addEventListener('input', () => {
  one('#whose').textContent = '';
});

async function logIn() {
  const made = await call('POST', '/v1/sessions', { code: codeField.value.trim(), name: 'browser' });
  login = made.secret;
  user = made.user.handle;
  // The code is used up; what follows may be tried again.
  codeField.disabled = true;
}

function issueKey() {
  const usd = capField.value.trim();
  const limits = usd === '' ? {} : { limits: { spend_cap: { usd, period: 'day' } } };
  return call('POST', '/v1/workspaces/me/keys', { name: nameField.value.trim(), ...limits });
}

/** Ends the login; resolves to whether it has ended. */
async function logOut() {
  const token = login;
  login = '';
  try {
    await call('DELETE', '/v1/sessions/current', undefined, { token, keepalive: true });
    return true;
  } catch {
    return false;
  }
}

function show({ key, secret }, hasLoggedOut) {
  const cap = key.limits.spend_cap;
  // Only whole dollars have no cents.
  const [whole, cents] = cap ? cap.usd.split('.') : [];
  const limit = cap
    ? `at most $${whole}${cents ? `.${cents.padEnd(2, '0')}` : ''} per ${cap.period}`
    : 'no spending limit';
  one('#issued').textContent = `The key ${key.name} of ${user} was created, with ${limit}.`;
  one('#secret').textContent = secret;
  one('#base-url').textContent = `${location.origin}/v1`;
  one('#left-open').hidden = hasLoggedOut;
  copyOn(one('#copy-secret'), () => secret);
  one('#choices').hidden = true;
  one('#done').hidden = false;
  one('#issued').focus();
}

// A page that is left between the two calls would leave its login open.
addEventListener('pagehide', () => {
  if (login !== '') void logOut();
});

async function call(method, path, body, { token = login, keepalive = false } = {}) {
  const headers = {};
  if (token !== '') headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers['content-type'] = 'application/json';
  const sent = body === undefined ? undefined : JSON.stringify(body);
  const options = { method, headers, body: sent, keepalive, credentials: 'omit', cache: 'no-store' };
  const reply = await fetch(path, options).catch(() => {
    throw new Error('The gateway does not answer. Try again.');
  });
  const answer = await reply.json().catch(() => undefined);
  if (reply.ok && answer !== undefined) return answer;
  throw new Error(answer?.error?.message ?? `The gateway answered ${reply.status}.`);
}

function copyOn(button, text) {
  const label = button.textContent;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text());
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = label;
    }, 1500);
  });
}
