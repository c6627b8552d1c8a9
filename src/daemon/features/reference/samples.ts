import { curlCode, javaScriptCode, pythonCode, type WrittenCall } from '../../../shared/samples/call-code.ts';
import { commandSamples } from './command-samples.ts';
import type { Description, Endpoint, Operation, Schema } from './document.ts';
import { nameOf } from './schema-view.ts';

/** The host in examples; the page's script replaces it by its own. */
const exampleHost = 'http://127.0.0.1:4100';

/** Example bodies that are better than generated ones. */
const knownBodies: Record<string, unknown> = {
  createMessage: {
    model: 'sim/assistant',
    max_tokens: 1024,
    messages: [{ role: 'user', content: 'Hello!' }],
  },
  countMessageTokens: { model: 'sim/assistant', messages: [{ role: 'user', content: 'Hello!' }] },
  createResponse: { model: 'sim/assistant', input: 'Hello!' },
  countInputTokens: { model: 'sim/assistant', input: 'Hello!' },
  createChatCompletion: { model: 'sim/assistant', messages: [{ role: 'user', content: 'Hello!' }] },
  createEmbedding: { model: 'sim/embedding', input: ['First text', 'Second text'] },
  compactResponse: { model: 'sim/assistant', input: 'A long conversation …' },
  previewResponse: { model: 'sim/assistant', input: 'Hello!' },
  previewChatCompletion: { model: 'sim/assistant', messages: [{ role: 'user', content: 'Hello!' }] },
  previewMessage: {
    model: 'sim/assistant',
    max_tokens: 1024,
    messages: [{ role: 'user', content: 'Hello!' }],
  },
  previewEmbedding: { model: 'sim/embedding', input: ['First text', 'Second text'] },
};

/** One way to make a call. */
export interface Sample {
  title: string;
  /** Which tokens to highlight. */
  language: 'shell' | 'javascript' | 'python';
  text: string;
}

/** The call with curl, in JavaScript, in Python and, where there is one, as a command. */
export function samplesOf(endpoint: Endpoint, description: Description): Sample[] {
  const { operation } = endpoint;
  if (operation['x-websocket']) return [{ title: 'JavaScript', language: 'javascript', text: socketSample }];
  const call = callOf(endpoint, description);
  const command = commandFor(operation.operationId);
  return [
    { title: 'curl', language: 'shell', text: curlCode(call, { key: '$GATEWAY_KEY' }) },
    { title: 'JavaScript', language: 'javascript', text: javaScriptSample(call, operation) },
    { title: 'Python', language: 'python', text: pythonSample(call, operation) },
    ...(command === undefined ? [] : [{ title: 'gateway', language: 'shell' as const, text: command }]),
  ];
}

/** Commands call models in the Responses format, which has the same answers. */
function commandFor(operationId: string): string | undefined {
  return commandSamples[operationId === 'createChatCompletion' ? 'createResponse' : operationId];
}

function callOf({ method, path, operation }: Endpoint, description: Description): WrittenCall {
  const content = operation.responses[200]?.content ?? {};
  return {
    method,
    baseUrl: exampleHost,
    path: filled(path, operation),
    headers: {},
    needsKey: !isForAll(operation),
    body: exampleBody(operation, description),
    answer: content['application/json'] ? 'json' : content['text/event-stream'] ? 'stream' : 'text',
  };
}

/** An example of the body of an operation; undefined if it has none. */
export function exampleBody(operation: Operation, description: Description): unknown {
  const schema = operation.requestBody?.content['application/json']?.schema;
  return schema && (knownBodies[operation.operationId] ?? exampleValue(schema, description));
}

const isForAll = ({ security = [] }: Operation): boolean =>
  security.some((it) => Object.keys(it).length === 0);

/** Placeholders in braces are for the reader to replace; required query parameters are filled in. */
function filled(path: string, { parameters = [] }: Operation): string {
  const needed = parameters.filter((it) => it.in === 'query' && it.required);
  const query = needed.map(({ name }) => `${name}=…`).join('&');
  return path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase()) + (query && `?${query}`);
}

const openedJavaScript = `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${exampleHost}/v1', apiKey: process.env.GATEWAY_KEY });
`;

const openedPython = `import os
from openai import OpenAI

client = OpenAI(base_url="${exampleHost}/v1", api_key=os.environ["GATEWAY_KEY"])
`;

/** Calls without a body that OpenAI's SDKs make. */
const sdkCalls: Record<string, { javaScript: string; python: string }> = {
  getResponse: {
    javaScript: `const response = await client.responses.retrieve('resp_…');
console.log(response.output_text);`,
    python: `response = client.responses.retrieve("resp_…")
print(response.output_text)`,
  },
  deleteResponse: {
    javaScript: "await client.responses.delete('resp_…');",
    python: 'client.responses.delete("resp_…")',
  },
  cancelResponse: {
    javaScript: "await client.responses.cancel('resp_…');",
    python: 'client.responses.cancel("resp_…")',
  },
  listInputItems: {
    javaScript:
      "for await (const item of client.responses.inputItems.list('resp_…')) console.log(item.type);",
    python: `for item in client.responses.input_items.list("resp_…"):
    print(item.type)`,
  },
  listModels: {
    javaScript: 'for await (const model of client.models.list()) console.log(model.id);',
    python: `for model in client.models.list():
    print(model.id)`,
  },
  getModel: {
    javaScript: `const model = await client.models.retrieve('sim/assistant');
console.log(model.id);`,
    python: `model = client.models.retrieve("sim/assistant")
print(model.id)`,
  },
};

function javaScriptSample(call: WrittenCall, { operationId }: Operation): string {
  const known = sdkCalls[operationId];
  return known ? `${openedJavaScript}${known.javaScript}` : javaScriptCode(call);
}

function pythonSample(call: WrittenCall, { operationId }: Operation): string {
  const known = sdkCalls[operationId];
  return known ? `${openedPython}${known.python}` : pythonCode(call);
}

const socketSample = `import WebSocket from 'ws';

const socket = new WebSocket('${exampleHost.replace('http', 'ws')}/v1/responses', {
  headers: { authorization: \`Bearer \${process.env.GATEWAY_KEY}\` },
});
socket.on('open', () => {
  socket.send(JSON.stringify({ type: 'response.create', model: 'sim/assistant', input: 'Hello!' }));
});
socket.on('message', (event) => console.log(String(event)));`;

/** A minimal value of a schema: required members only, the first of alternatives. */
function exampleValue(schema: Schema, description: Description, depth = 0): unknown {
  if (schema.$ref !== undefined) {
    const named = description.components.schemas[nameOf(schema.$ref)];
    return named && depth < 8 ? exampleValue(named, description, depth + 1) : {};
  }
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined) return schema.default;
  if (schema.enum) return schema.enum[0];
  const choice = (schema.anyOf ?? schema.oneOf ?? schema.allOf)?.[0];
  if (choice && schema.type === undefined) return exampleValue(choice, description, depth + 1);
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const names = [...(schema.required ?? []), ...(choice?.required ?? [])];
      const required = names.map((name) => {
        const member = schema.properties?.[name] ?? {};
        return [name, exampleValue(member, description, depth + 1)];
      });
      return Object.fromEntries(required);
    }
    case 'array':
      return schema.items && (schema.minItems ?? 0) > 0
        ? [exampleValue(schema.items, description, depth + 1)]
        : [];
    case 'integer':
    case 'number':
      return schema.minimum ?? 1;
    case 'boolean':
      return true;
    case 'null':
      return null;
    default:
      return '…';
  }
}
