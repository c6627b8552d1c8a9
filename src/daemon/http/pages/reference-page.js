// The script of the reference page: opening sections, search, samples, colours and trying calls.
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector, within = document) => within.querySelector(selector);

const search = one('#search');
const theme = one('#theme');
const found = one('#found');
const about = one('#about');
const sections = all('.operation');
const links = new Map(all('nav a').map((link) => [link.hash.slice(1), link]));

/** As much of an answer as a page shows at ease, in characters. */
const shownMax = 200_000;
/** More is shown without colours. */
const highlightedMax = 40_000;
/** The key of calls that are tried; forgotten with the page. */
let key = '';

for (const element of [search, theme]) element.hidden = false;
// The list of endpoints begins on the first screen of a phone.
about.open = !matchMedia('(max-width: 800px)').matches;

// Sections are rendered when they are opened, and removed when they are closed.
function open(section) {
  if (one('.body', section)) return;
  section.append(one('template', section).content.cloneNode(true));
  one('h3 a', section).setAttribute('aria-expanded', 'true');
  showSamples(section);
  const form = one('.try', section);
  if (form) prepare(form);
}

function close(section) {
  one('.try', section)?.dispatchEvent(new Event('reset'));
  one('.body', section)?.remove();
  one('h3 a', section).removeAttribute('aria-expanded');
}

for (const section of sections) {
  one('h3 a', section).addEventListener('click', (event) => {
    if (!one('.body', section)) return;
    event.preventDefault();
    close(section);
    history.replaceState(null, '', location.pathname);
    markCurrent(undefined);
  });
}

// Members of members, too.
document.addEventListener(
  'toggle',
  ({ target }) => {
    const template = target.querySelector(':scope > template');
    if (target.open && template) template.replaceWith(template.content.cloneNode(true));
  },
  true,
);

function markCurrent(id) {
  for (const [name, link] of links) {
    if (name === id) link.setAttribute('aria-current', 'true');
    else link.removeAttribute('aria-current');
  }
}

// A link opens what it leads to, even if the search hides it.
function reveal() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target?.matches('.operation')) {
    if (target.hidden) {
      search.value = '';
      filter();
    }
    open(target);
    target.scrollIntoView();
  }
  markCurrent(target?.id);
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

// Search: every word has to begin a word of the section, in its heading or, if no heading has them all, in its text.
const plain = (text) =>
  ` ${text
    .replace(/([a-z0-9])([A-Z])/g, '$1$2 $1 $2')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')} `;
const index = new Map();
function textsIn(fragment) {
  const texts = [];
  const walker = document.createTreeWalker(fragment, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) texts.push(walker.currentNode.data);
  return [...texts, ...all('template', fragment).flatMap(({ content }) => textsIn(content))];
}

function indexOf(section) {
  if (!index.has(section)) {
    index.set(section, {
      heading: plain(`${section.id} ${one('h3', section).textContent}`),
      text: plain(textsIn(one('template', section).content).join(' ')),
    });
  }
  return index.get(section);
}

function matching(words, isWhole) {
  return sections.filter((section) => {
    const { heading, text } = indexOf(section);
    return words.every((word) => heading.includes(` ${word}`) || (isWhole && text.includes(` ${word}`)));
  });
}

function filter() {
  const words = plain(search.value).split(' ').filter(Boolean);
  const named = matching(words, false);
  const shown = new Set(named.length > 0 ? named : matching(words, true));
  for (const section of sections) {
    section.hidden = !shown.has(section);
    const link = links.get(section.id);
    if (link) link.parentElement.hidden = section.hidden;
  }
  for (const group of all('.group')) {
    group.hidden = all('.operation, nav li', group).every((element) => element.hidden);
  }
  found.hidden = words.length === 0;
  about.hidden = words.length > 0;
  const of = named.length > 0 ? 'in their names' : 'in their descriptions';
  found.textContent = shown.size > 0 ? `${shown.size} found by words ${of}.` : 'Nothing has these words.';
}
search.addEventListener('input', () => {
  filter();
  scrollTo(0, 0);
});

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
  if (event.target.closest('input, button, textarea, summary')) return;
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
  theme.title = `Colours: ${name || 'system'} (t)`;
  theme.setAttribute('aria-label', theme.title);
}
showTheme(localStorage.getItem('theme') ?? '');
theme.addEventListener('click', () => {
  const now = document.documentElement.dataset.theme ?? '';
  const next = themes[(themes.indexOf(now) + 1) % themes.length];
  localStorage.setItem('theme', next);
  showTheme(next);
});

// Highlighting: strings, words of the language, numbers, names of shell options and variables.
const strings = String.raw`"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'`;
const languages = {
  shell: [
    ['string', strings],
    ['word', String.raw`(?<=^|\n|\| )(?:[A-Z_]+=\$\()?[a-z]+`],
    ['name', String.raw`(?<=\s)--?[a-zA-Z][\w-]*`],
  ],
  javascript: [
    ['string', `${strings}|\`[^\`]*\``],
    ['word', String.raw`\b(?:import|from|const|await|new|for|of|async)\b`],
    ['number', String.raw`\b\d+\b`],
  ],
  python: [
    ['string', `f?(?:${strings})`],
    ['word', String.raw`\b(?:import|from|for|in|None|True|False)\b`],
    ['number', String.raw`\b\d+\b`],
  ],
  json: [
    ['name', String.raw`"(?:\\.|[^"\\])*"(?=\s*:)`],
    ['string', strings],
    ['word', String.raw`\b(?:true|false|null)\b`],
    ['number', String.raw`-?\b\d[\d.eE+-]*`],
  ],
};

function highlight(element, text, language) {
  const kinds = languages[language];
  const tokens = new RegExp(kinds.map(([, pattern]) => `(${pattern})`).join('|'), 'g');
  element.textContent = '';
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const span = document.createElement('span');
    span.className = kinds[match.slice(1).findIndex((group) => group !== undefined)][0];
    span.textContent = match[0];
    element.append(text.slice(end, match.index), span);
    end = match.index + match[0].length;
  }
  element.append(text.slice(end));
}

// Samples: one at a time, in the language chosen last. They name the address that the page came from.
function showSamples(section) {
  const figures = all('figure', section);
  if (figures.length === 0) return;
  const tabs = document.createElement('div');
  tabs.className = 'tabs';
  figures[0].before(tabs);
  const choose = (chosen) => {
    for (const figure of figures) figure.hidden = figure !== chosen;
    for (const tab of all('.tab', tabs))
      tab.setAttribute('aria-pressed', tab.textContent === chosen.dataset.title);
  };
  for (const figure of figures) {
    const code = one('code', figure);
    const text = code.textContent
      .replaceAll('http://127.0.0.1:4100', location.origin)
      .replaceAll('ws://127.0.0.1:4100', location.origin.replace('http', 'ws'));
    highlight(code, text, code.dataset.language);
    const tab = addButton(tabs, 'tab', figure.dataset.title, () => {
      localStorage.setItem('language', figure.dataset.title);
      choose(figure);
    });
    tab.type = 'button';
    const copy = addButton(figure, 'copy', 'Copy', async () => {
      await navigator.clipboard.writeText(text);
      copy.textContent = 'Copied';
      setTimeout(() => {
        copy.textContent = 'Copy';
      }, 1500);
    });
  }
  choose(figures.find(({ dataset }) => dataset.title === localStorage.getItem('language')) ?? figures[0]);
}

function addButton(parent, name, text, act) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = name;
  button.textContent = text;
  button.addEventListener('click', act);
  parent.append(button);
  return button;
}

// Trying calls. The key goes to this daemon alone.
function requestOf(form) {
  let path = form.dataset.path;
  const query = new URLSearchParams();
  const headers = {};
  for (const field of all('[data-place]', form)) {
    const { name, value, dataset } = field;
    if (dataset.place === 'path')
      path = path.replace(`{${name}}`, value.split('/').map(encodeURIComponent).join('/'));
    else if (value === '') continue;
    else if (dataset.place === 'query') query.set(name, value);
    else headers[name] = value;
  }
  if (key !== '') headers.authorization = `Bearer ${key}`;
  const body = one('textarea', form)?.value;
  if (body !== undefined) headers['content-type'] = 'application/json';
  return { method: form.dataset.method, url: query.size > 0 ? `${path}?${query}` : path, headers, body };
}

/** The text that an event of a stream adds to the answer, in any of the three formats, or the reason of its failure. */
function deltaOf(line) {
  if (!line.startsWith('data: {')) return '';
  const event = JSON.parse(line.slice(6));
  if (event.type === 'response.output_text.delta') return event.delta;
  if (event.type === 'content_block_delta') return event.delta.text ?? '';
  if (event.type === 'error' || event.error) return `\n${event.error?.message ?? event.message}`;
  return event.choices?.[0]?.delta?.content ?? '';
}

async function tryCall(form, signal) {
  const [answer, raw] = [one('.answer', form), one('.raw', form)];
  const { method, url, headers, body } = requestOf(form);
  answer.textContent = '';
  if (body !== undefined) JSON.parse(body);
  raw.textContent = `${method} ${url} …`;
  const startedAt = performance.now();
  const reply = await fetch(url, { method, headers, body, signal, credentials: 'omit', cache: 'no-store' });
  const isStream = reply.headers.get('content-type')?.startsWith('text/event-stream');
  const head = () => {
    const ms = Math.round(performance.now() - startedAt);
    const cost = reply.headers.get('x-service-cost-usd');
    const parts = [`in ${ms} ms`, reply.headers.get('x-request-id'), cost && `$${cost}`];
    return `${reply.status} ${reply.statusText} ${parts.filter(Boolean).join(' · ')}\n\n`;
  };
  let text = '';
  let rest = '';
  // As it comes: events may never end.
  const decoder = new TextDecoder();
  for await (const bytes of readAll(reply.body.getReader())) {
    const piece = decoder.decode(bytes, { stream: true });
    text += piece;
    if (text.length > shownMax) text = `${text.slice(0, shownMax)}\n… and more`;
    const isFollowed = isStream && raw.scrollTop + raw.clientHeight >= raw.scrollHeight - 40;
    raw.textContent = head() + text;
    if (isFollowed) raw.scrollTop = raw.scrollHeight;
    if (isStream) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop();
      answer.textContent += lines.map(deltaOf).join('');
    }
    if (text.length > shownMax) return;
  }
  show(raw, head(), isStream ? text : pretty(text));
}

function show(output, head, text) {
  const isJson = /^[{[]/.test(text) && text.length < highlightedMax;
  if (isJson) highlight(output, text, 'json');
  else output.textContent = text;
  output.prepend(head);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
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

function prepare(form) {
  const stop = one('.stop', form);
  const field = one('.key', form);
  let controller = new AbortController();
  field.value = key;
  field.addEventListener('input', () => {
    key = field.value.trim();
    for (const other of all('.key')) if (other !== field) other.value = field.value;
  });
  stop.addEventListener('click', () => controller.abort());
  form.addEventListener('reset', () => controller.abort());
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    controller.abort();
    const own = new AbortController();
    controller = own;
    stop.hidden = false;
    const raw = one('.raw', form);
    try {
      await tryCall(form, own.signal);
    } catch (error) {
      if (own.signal.aborted) raw.append('\n(stopped)');
      else if (error instanceof SyntaxError) raw.textContent = `The body is not JSON: ${error.message}`;
      else raw.textContent = `There is no answer: ${error.message}`;
    }
    if (controller === own) stop.hidden = true;
  });
}

reveal();
