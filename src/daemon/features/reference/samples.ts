import type { Description, Operation, Place, Schema } from './document.ts';
import { nameOf } from './schema-view.ts';

/** The host in examples; the page's script replaces it by its own. */
const exampleHost = 'http://127.0.0.1:4100';

/** Example bodies that are better than generated ones. */
const knownBodies: Record<string, unknown> = {
  createResponse: { model: 'sim/assistant', input: 'Hello!' },
  createChatCompletion: { model: 'sim/assistant', messages: [{ role: 'user', content: 'Hello!' }] },
  compactResponse: { model: 'sim/assistant', input: 'A long conversation …' },
};

/** The call as a shell command. */
export function curlSample({ method, path, operation }: Place, description: Description): string {
  const lines = [`curl ${method === 'GET' ? '' : `-X ${method} `}'${exampleHost}${filled(path, operation)}'`];
  if (!isForAll(operation)) lines.push('-H "authorization: Bearer $GATEWAY_KEY"');
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema) {
    const body = knownBodies[operation.operationId] ?? exampleValue(schema, description);
    lines.push(
      "-H 'content-type: application/json'",
      `-d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
    );
  }
  if (operation.responses[200]?.content?.['text/event-stream'] && !schema) lines.push('--no-buffer');
  return lines.join(' \\\n  ');
}

const isForAll = ({ security = [] }: Operation): boolean =>
  security.some((it) => Object.keys(it).length === 0);

/** Placeholders in braces are for the reader to replace; required query parameters are filled in. */
function filled(path: string, { parameters = [] }: Operation): string {
  const needed = parameters.filter((it) => it.in === 'query' && it.required);
  const query = needed.map(({ name }) => `${name}=…`).join('&');
  return path.replace(/\{(\w+)\}/g, (_, name: string) => name.toUpperCase()) + (query && `?${query}`);
}

const opened = `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: '${exampleHost}/v1', apiKey: process.env.GATEWAY_KEY });
`;

const sdkCalls: Record<string, string> = {
  createResponse: `const response = await client.responses.create({ model: 'sim/assistant', input: 'Hello!' });
console.log(response.output_text);`,
  createChatCompletion: `const completion = await client.chat.completions.create({
  model: 'sim/assistant',
  messages: [{ role: 'user', content: 'Hello!' }],
});
console.log(completion.choices[0]?.message.content);`,
  getResponse: "const response = await client.responses.retrieve('resp_…');",
  deleteResponse: "await client.responses.delete('resp_…');",
  cancelResponse: "await client.responses.cancel('resp_…');",
  listInputItems:
    "for await (const item of client.responses.inputItems.list('resp_…')) console.log(item.type);",
  listModels: 'for await (const model of client.models.list()) console.log(model.id);',
  getModel: "const model = await client.models.retrieve('sim/assistant');",
};

/** The call with OpenAI's SDK, if it supports it. */
export function sdkSample({ operationId }: Operation): string | undefined {
  const call = sdkCalls[operationId];
  return call === undefined ? undefined : `${opened}${call}`;
}

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
  if (choice) return exampleValue(choice, description, depth + 1);
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const required = (schema.required ?? []).map((name) => {
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
