import type { Description, DocumentedAnswer, Endpoint, Operation, Parameter, Schema } from './document.ts';
import { html, inline, type Markup, prose } from './markup.ts';
import { exampleBody, type Sample, samplesOf } from './samples.ts';
import { boundsOf, membersOf, nameOf, schemaView, typeOf } from './schema-view.ts';

/** Renders one endpoint: a heading, and a template of what the page's script shows when it is opened. */
export function operationView(endpoint: Endpoint, description: Description): Markup {
  const { method, path, operation } = endpoint;
  const { operationId, summary } = operation;
  return html`
<section class="operation" id="${operationId}">
<h3><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code> <span class="summary">${summary}</span></a></h3>
<template><div class="body"><div>
${prose(operation.description)}
${parametersView(operation.parameters ?? [])}
${bodyView(operation, description)}
${answersView(operation)}
</div><div class="samples">
${samplesOf(endpoint, description).map(sampleView)}
${canTry(endpoint) && tryView(endpoint, description)}
</div></div></template>
</section>`;
}

function sampleView({ title, language, text }: Sample): Markup {
  return html`<figure data-title="${title}"><figcaption>${title}</figcaption><pre><code data-language="${language}">${text}</code></pre></figure>`;
}

function parametersView(parameters: Parameter[]): Markup {
  if (parameters.length === 0) return html``;
  const rows = parameters.map((it) => {
    const bounds = boundsOf(it.schema);
    return html`<li><code class="name">${it.name}</code> <span class="place">${it.in}</span> <span class="type">${typeOf(
      it.schema,
    )}</span>${it.required && html` <span class="required">required</span>`}${
      bounds.length > 0 && html` <span class="bounds">${bounds.join(', ')}</span>`
    }${it.description !== undefined && html`<div class="says">${inline(it.description)}</div>`}</li>`;
  });
  return html`<h4>Parameters</h4><ul class="members">${rows}</ul>`;
}

function bodyView(operation: Operation, { components }: Description): Markup {
  const { requestBody, 'x-websocket': socket } = operation;
  if (socket) {
    return html`<h4>Messages</h4>${schemaView(socket.message)}<h4>Events</h4>${schemaView(socket.event)}`;
  }
  if (!requestBody) return html``;
  const schemas = Object.values(requestBody.content).map(
    ({ schema }) => html`${schemaView(schema)}${namedMembers(schema, components.schemas)}`,
  );
  return html`<h4>Body${!requestBody.required && ' (optional)'}</h4>${schemas}`;
}

/** Named schemas of bodies are expanded in place, where readers look for them. */
function namedMembers({ $ref }: Schema, schemas: Record<string, Schema>): Markup {
  const named = $ref === undefined ? undefined : schemas[nameOf($ref)];
  return named ? membersOf(named) : html``;
}

function answersView({ responses }: Operation): Markup {
  const entries = Object.entries(responses);
  const good = entries.filter(([status]) => Number(status) < 400);
  const bad = entries.filter(([status]) => Number(status) >= 400);
  return html`${good.map(([status, answer]) => goodView(status, answer))}
<details><summary>Failures</summary><ul class="members">${bad.map(
    ([status, { description }]) => html`<li><code class="name">${status}</code> ${inline(description)}</li>`,
  )}</ul></details>`;
}

/** The generic description, which is not shown. */
const plainAnswer = 'The result.';

function goodView(status: string, { description, content = {}, headers = {} }: DocumentedAnswer): Markup {
  const own = Object.entries(headers).filter(([, { $ref }]) => $ref === undefined);
  const bodies = Object.entries(content).map(
    ([type, { schema }]) =>
      html`<p><code>${type}</code>${type === 'text/event-stream' && ', each event:'}</p>${schemaView(schema)}`,
  );
  const rows = own.map(
    ([name, it]) =>
      html`<li><code class="name">${name}</code> <span class="says">${inline(it.description ?? '')}</span></li>`,
  );
  const says = description !== plainAnswer && html`<p>${inline(description)}</p>`;
  return html`<h4>Answer <code>${status}</code></h4>${says}${bodies}${
    own.length > 0 && html`<details><summary>Headers</summary><ul class="members">${rows}</ul></details>`
  }`;
}

/** Whether the page offers to send the call: those that read, and model calls. */
function canTry({ method, operation }: Endpoint): boolean {
  if (operation['x-websocket']) return false;
  return method === 'GET' || (operation.tags.includes('Model calls') && operation.requestBody !== undefined);
}

/** Sent by the page's script. */
function tryView({ method, path, operation }: Endpoint, description: Description): Markup {
  const parameters = operation.parameters ?? [];
  const field = ({ name, in: place, required }: Parameter) =>
    html`<label>${name} <input name="${name}" data-place="${place}" autocomplete="off" spellcheck="false"${
      required && html` required`
    }></label>`;
  const isAside = (it: Parameter) => it.in === 'header' && !it.required;
  const headers = parameters.filter(isAside);
  const example = exampleBody(operation, description);
  const canStream = example !== undefined && operation.responses[200]?.content?.['text/event-stream'];
  const body = canStream ? { ...(example as object), stream: true } : example;
  const lines = JSON.stringify(body, null, 2)?.split('\n') ?? [];
  return html`<form class="try" data-method="${method}" data-path="${path}">
<label>Key <input class="key" type="password" placeholder="gwk_…" autocomplete="off" spellcheck="false"></label> <small>Sent to this address only, and forgotten when you leave the page.</small>
${parameters.filter((it) => !isAside(it)).map(field)}${
  headers.length > 0 && html`<details><summary>Headers</summary>${headers.map(field)}</details>`
}${
  lines.length > 0 &&
  html`<label class="whole">Body <textarea rows="${lines.length}" spellcheck="false">${lines.join('\n')}</textarea></label>`
}
<button type="submit">Try it</button> <button type="button" class="stop" hidden>Stop</button>
<output class="answer"></output><output class="raw"></output></form>`;
}
