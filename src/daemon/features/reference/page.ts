import { type Description, type Endpoint, endpointsOf } from './document.ts';
import { html, htmlDocument, inline, type Markup, prose } from './markup.ts';
import { operationView } from './operation-view.ts';
import { membersOf, typeOf } from './schema-view.ts';

export interface PageParts {
  description: Description;
  /** Of the program. */
  version: string;
  style: string;
  script: string;
}

/**
 * Renders the reference as one page. Each endpoint and schema is a heading and a template, which the page's script renders
 * when it is opened: all of them at once would be 16,000 elements.
 */
export function referencePage({ description, version, style, script }: PageParts): string {
  const { info, tags } = description;
  const endpoints = endpointsOf(description);
  const groups = tags.map((tag) => ({
    ...tag,
    endpoints: endpoints.filter(({ operation }) => operation.tags.includes(tag.name)),
  }));
  const body = html`<header>
<a class="title" href="#top">${info.title} API <small>${version}</small></a>
<input id="search" type="search" placeholder="Search ( / )" aria-label="Search endpoints and schemas" autocomplete="off" hidden>
<button id="theme" type="button" hidden>◐</button>
<a class="source" href="/v1/openapi.json">openapi.json</a>
</header>
<nav aria-label="Endpoints">${groups.map(({ name, endpoints: own }) => navGroup(name, own))}${schemaNav(description)}</nav>
<main id="top" tabindex="-1">
<details id="about" open><summary>About all endpoints</summary>${prose(info.description)}</details>
<noscript><p>Without scripts this page only lists the endpoints; their details are in <a href="/v1/openapi.json">openapi.json</a>.</p></noscript>
<p id="found" role="status" hidden></p>
${groups.map(
  ({ name, description: says, endpoints: own }) =>
    html`<section class="group"><h2>${name}</h2><p>${inline(says)}</p>${own.map((it) => operationView(it, description))}</section>`,
)}
${schemasView(description)}
</main>`;
  return htmlDocument({ title: `${info.title} API`, style, script, body });
}

function navGroup(name: string, endpoints: Endpoint[]): Markup {
  const links = endpoints.map(
    ({ method, path, operation: { operationId, summary } }) =>
      html`<li><a href="#${operationId}" title="${path}"><span class="method ${method.toLowerCase()}">${method}</span> ${inline(summary.replace(/\.$/, ''))}</a></li>`,
  );
  return html`<div class="group"><h2>${name}</h2><ul>${links}</ul></div>`;
}

function schemaNav({ components }: Description): Markup {
  const links = Object.keys(components.schemas).map(
    (name) => html`<li><a href="#schema-${name}">${name}</a></li>`,
  );
  return html`<div class="group"><h2>Schemas</h2><ul>${links}</ul></div>`;
}

function schemasView({ components }: Description): Markup {
  const sections = Object.entries(components.schemas).map(
    ([name, schema]) => html`
<section class="operation" id="schema-${name}">
<h3><a href="#schema-${name}">${name}</a></h3>
<template><div class="body"><div>
${schema.description !== undefined && prose(schema.description)}
<p class="type">${typeOf(schema)}</p>
${membersOf(schema)}
</div></div></template>
</section>`,
  );
  return html`<section class="group"><h2>Schemas</h2>${sections}</section>`;
}
