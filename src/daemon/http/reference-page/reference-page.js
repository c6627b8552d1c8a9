// The script of the reference page: search, keys, copying, colours and trying calls. The page can be read without it.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector) => document.querySelector(selector);

const search = one('#search');
const key = one('#key');
const theme = one('#theme');
const sections = all('.operation');
const links = new Map(all('nav a').map((link) => [link.hash.slice(1), link]));

/** As much of an answer as a page shows at ease, in characters. */
const shownMax = 200_000;

for (const element of [search, key, theme, ...all('.try')]) element.hidden = false;

// Search: each word has to be in the name, the path or the summary.
function filter() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let found = 0;
  for (const section of sections) {
    const isFound = words.every((word) => section.dataset.words.includes(word));
    section.hidden = !isFound;
    const link = links.get(section.id);
    if (link) link.parentElement.hidden = !isFound;
    if (isFound) found += 1;
  }
  for (const group of all('.group')) {
    group.hidden = all('.operation, li', group).every((element) => element.hidden);
  }
  one('#none').hidden = found > 0;
}
search.addEventListener('input', filter);

// A link to what is hidden by the search shows it again.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.hidden) {
    search.value = '';
    filter();
    target.scrollIntoView();
  }
  for (const [id, link] of links) {
    if (id === target?.id) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
  // The list alone is moved: to scroll to the link would move the page, too.
  const link = links.get(target?.id);
  if (link) {
    const list = one('nav');
    const { top, bottom } = link.getBoundingClientRect();
    const frame = list.getBoundingClientRect();
    if (top < frame.top || bottom > frame.bottom) list.scrollTop += top - frame.top - frame.height / 3;
  }
}
addEventListener('hashchange', reveal);
reveal();

function step(by) {
  const shown = sections.filter((section) => !section.hidden);
  const at = shown.findIndex((section) => `#${section.id}` === location.hash);
  const next = shown[at < 0 ? 0 : at + by];
  if (next) location.hash = next.id;
}

const shortcuts = {
  '/': () => search.focus(),
  j: () => step(1),
  k: () => step(-1),
  t: () => theme.click(),
};

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Escape') {
    if (event.target === search) search.value = '';
    filter();
    event.target.blur();
    return;
  }
  if (event.target.closest('input, button, textarea, summary') && event.key !== 'Escape') return;
  const act = shortcuts[event.key];
  if (!act) return;
  event.preventDefault();
  act();
});
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') step(0);
});

// Colours: those of the system until chosen, then kept.
const themes = ['', 'light', 'dark'];
function showTheme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  theme.textContent = `Colours: ${name || 'system'}`;
}
showTheme(localStorage.getItem('theme') ?? '');
theme.addEventListener('click', () => {
  const now = document.documentElement.dataset.theme ?? '';
  const next = themes[(themes.indexOf(now) + 1) % themes.length];
  localStorage.setItem('theme', next);
  showTheme(next);
});

// Examples name the address that the page came from, and can be copied.
for (const figure of all('figure')) {
  const code = figure.querySelector('code');
  code.textContent = code.textContent.replaceAll('http://127.0.0.1:4100', location.origin);
  const button = document.createElement('button');
  button.type = 'button';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(code.textContent);
    button.textContent = 'Copied';
    setTimeout(() => {
      button.textContent = 'Copy';
    }, 1500);
  });
  figure.append(button);
}

// Trying calls: only those that read. The key stays in its field and goes to this daemon alone.
function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of all('input', form)) {
    const { name, value, dataset } = field;
    if (dataset.place === 'path')
      path = path.replace(`{${name}}`, value.split('/').map(encodeURIComponent).join('/'));
    else if (value === '') continue;
    else if (dataset.place === 'query') query.set(name, value);
    else headers[name] = value;
  }
  if (key.value !== '') headers.authorization = `Bearer ${key.value.trim()}`;
  return { url: query.size > 0 ? `${path}?${query}` : path, headers };
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

async function tryCall(form, signal) {
  const output = form.querySelector('output');
  const { url, headers } = requestOf(form);
  output.textContent = `GET ${url} …`;
  const startedAt = performance.now();
  const answer = await fetch(url, { headers, signal, credentials: 'omit', cache: 'no-store' });
  const head = () => {
    const ms = Math.round(performance.now() - startedAt);
    return `${answer.status} ${answer.statusText} in ${ms} ms, ${answer.headers.get('x-request-id') ?? ''}\n\n`;
  };
  let text = '';
  // As it comes: events may never end.
  const decoder = new TextDecoder();
  for await (const bytes of readAll(answer.body.getReader())) {
    text += decoder.decode(bytes, { stream: true });
    if (text.length > shownMax) text = `${text.slice(0, shownMax)}\n… and more`;
    output.textContent = head() + text;
    if (text.length > shownMax) return;
  }
  output.textContent = head() + pretty(text);
}

async function* readAll(reader) {
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

for (const form of all('.try')) {
  const end = form.querySelector('.end');
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    const controller = new AbortController();
    end.hidden = false;
    end.onclick = () => controller.abort();
    try {
      await tryCall(form, controller.signal);
    } catch (error) {
      const output = form.querySelector('output');
      if (controller.signal.aborted) output.textContent += '\n(ended)';
      else output.textContent = `There is no answer: ${error.message}`;
    }
    end.hidden = true;
  });
}
