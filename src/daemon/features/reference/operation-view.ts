import type { Answer, Description, Operation, Parameter, Place, Schema } from './document.ts';
import { html, inline, type Markup, prose } from './markup.ts';
import { curlSample, sdkSample } from './samples.ts';
import { boundsOf, membersOf, nameOf, schemaView, typeOf } from './schema-view.ts';

/** Renders one endpoint: purpose, parameters, body, responses, errors and examples. */
export function operationView(place: Place, description: Description): Markup {
  const { method, path, operation } = place;
  const { operationId, summary } = operation;
  const sdk = sdkSample(operation);
  const words = `${operationId} ${method} ${path} ${summary} ${operation.tags.join(' ')}`.toLowerCase();
  return html`
<section class="operation" id="${operationId}" data-words="${words}">
<h3><a href="#${operationId}"><span class="method ${method.toLowerCase()}">${method}</span> <code>${path}</code></a></h3>
<p class="summary">${summary}</p>
${prose(operation.description)}
${parametersView(operation.parameters ?? [])}
${bodyView(operation, description)}
${answersView(operation)}
<details><summary>Examples</summary>
${sample('curl', curlSample(place, description))}
${sdk !== undefined && sample('JavaScript', sdk)}
</details>
${method === 'GET' && !operation['x-websocket'] && tryView(place)}
</section>`;
}

function sample(title: string, text: string): Markup {
  return html`<figure><figcaption>${title}</figcaption><pre><code>${text}</code></pre></figure>`;
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
  return named ? html`<details><summary>members</summary>${membersOf(named)}</details>` : html``;
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

function goodView(status: string, { description, content = {}, headers = {} }: Answer): Markup {
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

/** Shown by the page's script, which sends the request. */
function tryView({ path, operation }: Place): Markup {
  const fields = (operation.parameters ?? []).map(
    ({ name, in: place, required }) =>
      html`<label>${name} <input name="${name}" data-place="${place}" autocomplete="off" spellcheck="false"${
        required && html` required`
      }></label>`,
  );
  return html`<form class="try" data-path="${path}" hidden>${fields}<button type="submit">Try it</button> <button type="button" class="end" hidden>End</button><output></output></form>`;
}
