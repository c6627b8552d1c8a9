import { javaScriptLiteral, pythonLiteral, shellQuoted } from './literals.ts';

/** A call to write as code. */
export interface WrittenCall {
  method: string;
  /** `http://127.0.0.1:4100` */
  baseUrl: string;
  path: string;
  /** Besides the key and the type of the content. */
  headers: Readonly<Record<string, string>>;
  needsKey: boolean;
  /** Undefined for calls without one. */
  body: unknown;
  answer: 'json' | 'text' | 'stream';
}

interface CurlOptions {
  /** An expression of the shell: `$GATEWAY_KEY`. */
  key: string;
  /** The body as it was sent; default: the JSON of the body. */
  bodyText?: string | undefined;
  /** The path of a Unix socket. */
  socket?: string | undefined;
}

/** An argument of a program may have 128 KiB on Linux. */
const argumentBytesMax = 100_000;

export function curlCode(call: WrittenCall, { key, bodyText, socket }: CurlOptions): string {
  const { method, baseUrl, path, needsKey, body, answer } = call;
  const text = bodyText ?? (body === undefined ? undefined : JSON.stringify(body));
  const isLong = text !== undefined && text.length * 3 > argumentBytesMax;
  const isPost = method === 'POST' && bodyText !== undefined;
  const socketOption = socket === undefined ? '' : `--unix-socket ${shellQuoted(socket)} `;
  const methodOption = method === 'GET' || isPost ? '' : `-X ${method} `;
  const lines = [`curl ${socketOption}${methodOption}${shellQuoted(baseUrl + path)}`];
  if (needsKey) lines.push(`-H "authorization: Bearer ${key}"`);
  if (text !== undefined) lines.push("-H 'content-type: application/json'");
  for (const [name, value] of Object.entries(call.headers))
    lines.push(`-H ${shellQuoted(`${name}: ${value}`)}`);
  if (answer === 'stream') lines.push('--no-buffer');
  if (text !== undefined) lines.push(isLong ? "--data-binary @- <<'END_OF_BODY'" : `-d ${shellQuoted(text)}`);
  const command = lines.join(' \\\n  ');
  return isLong ? `${command}\n${text}\nEND_OF_BODY` : command;
}

/** An SDK that makes a call. */
interface Sdk {
  library: 'openai' | 'anthropic';
  /** `chat.completions.create` */
  method: string;
  /** The name of the answer, and expressions for its text in both languages. */
  result: string;
  javaScriptText: string;
  pythonText: string;
  /** Of an event of its stream, the text: an expression that is empty or undefined where there is none. */
  javaScriptPiece: string;
  pythonPiece: string;
  /** The members that Python's SDK takes by name; it sends others as `extra_body`. */
  named: ReadonlySet<string>;
}

const sampling = ['model', 'temperature', 'top_p', 'tools', 'tool_choice', 'metadata', 'stream'];

const sdks: Readonly<Record<string, Sdk>> = {
  '/v1/responses': {
    library: 'openai',
    method: 'responses.create',
    result: 'response',
    javaScriptText: 'response.output_text',
    pythonText: 'response.output_text',
    javaScriptPiece: "event.type === 'response.output_text.delta' ? event.delta : ''",
    pythonPiece: 'event.delta if event.type == "response.output_text.delta" else ""',
    named: new Set([
      ...sampling,
      ...['input', 'instructions', 'max_output_tokens', 'reasoning', 'text', 'store', 'include', 'user'],
      ...['parallel_tool_calls', 'previous_response_id', 'truncation'],
    ]),
  },
  '/v1/chat/completions': {
    library: 'openai',
    method: 'chat.completions.create',
    result: 'completion',
    javaScriptText: 'completion.choices[0]?.message.content',
    pythonText: 'completion.choices[0].message.content',
    javaScriptPiece: "event.choices[0]?.delta.content ?? ''",
    pythonPiece: '(event.choices[0].delta.content or "") if event.choices else ""',
    named: new Set([
      ...sampling,
      ...['messages', 'max_tokens', 'max_completion_tokens', 'n', 'stop', 'seed', 'response_format', 'store'],
      ...['stream_options', 'reasoning_effort', 'user', 'presence_penalty', 'frequency_penalty', 'logprobs'],
      ...['top_logprobs', 'parallel_tool_calls'],
    ]),
  },
  '/v1/embeddings': {
    library: 'openai',
    method: 'embeddings.create',
    result: 'embeddings',
    javaScriptText: 'embeddings.data[0]?.embedding.length',
    pythonText: 'len(embeddings.data[0].embedding)',
    javaScriptPiece: '',
    pythonPiece: '',
    named: new Set(['model', 'input', 'dimensions', 'encoding_format', 'user']),
  },
  '/v1/messages': {
    library: 'anthropic',
    method: 'messages.create',
    result: 'message',
    javaScriptText: "message.content.map((block) => block.text ?? '').join('')",
    pythonText: '"".join(getattr(block, "text", "") for block in message.content)',
    javaScriptPiece: "event.delta?.text ?? ''",
    pythonPiece: 'getattr(getattr(event, "delta", None), "text", "")',
    named: new Set([
      ...sampling,
      ...['messages', 'system', 'max_tokens', 'top_k', 'stop_sequences', 'thinking'],
    ]),
  },
};

/** The SDK refuses to wait longer for a whole answer unless a timeout is given. */
const timeoutSeconds = 600;

type Body = Record<string, unknown>;

/** With OpenAI's or Anthropic's SDK if it makes the call, else with `fetch`. */
export function javaScriptCode(call: WrittenCall): string {
  const sdk = sdkFor(call);
  if (sdk) return withJavaScriptSdk(call, sdk);
  const { method, baseUrl, path, needsKey, body, answer } = call;
  const headers = [
    ...(needsKey ? [`authorization: \`Bearer \${process.env.GATEWAY_KEY}\``] : []),
    ...(body === undefined ? [] : ["'content-type': 'application/json'"]),
    ...Object.entries(call.headers).map(
      ([name, value]) => `${javaScriptLiteral(name)}: ${javaScriptLiteral(value)}`,
    ),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`  method: '${method}',`]),
    ...(headers.length > 0 ? [`  headers: { ${headers.join(', ')} },`] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${javaScriptLiteral(body, '  ')}),`]),
  ];
  const init = options.length > 0 ? `, {\n${options.join('\n')}\n}` : '';
  const read = {
    json: 'console.log(await response.json());',
    text: 'console.log(await response.text());',
    stream: `for await (const text of response.body.pipeThrough(new TextDecoderStream())) {
  console.log(text);
}`,
  }[answer];
  return `const response = await fetch(${javaScriptLiteral(baseUrl + path)}${init});\n${read}`;
}

function sdkFor({ method, path, body }: WrittenCall): (Sdk & { body: Body }) | undefined {
  const sdk = sdks[path];
  if (!sdk || method !== 'POST' || typeof body !== 'object' || body === null) return undefined;
  return { ...sdk, body: body as Body };
}

function withJavaScriptSdk({ baseUrl, headers }: WrittenCall, sdk: Sdk & { body: Body }): string {
  const { library, method, result, body } = sdk;
  const isStream = body.stream === true;
  const options = {
    ...(Object.keys(headers).length > 0 && { headers }),
    ...(needsTimeout(sdk) && { timeout: timeoutSeconds * 1000 }),
  };
  const second = Object.keys(options).length > 0 ? `, ${javaScriptLiteral(options)}` : '';
  const name = isStream ? 'stream' : result;
  return [
    javaScriptClients[library](javaScriptLiteral(baseUrl), baseUrl),
    '',
    `const ${name} = await client.${method}(${javaScriptLiteral(body)}${second});`,
    isStream
      ? `for await (const event of stream) process.stdout.write(${sdk.javaScriptPiece});`
      : `console.log(${sdk.javaScriptText});`,
  ].join('\n');
}

const javaScriptClients = {
  openai: (_base: string, baseUrl: string) => `import OpenAI from 'openai';

const client = new OpenAI({ baseURL: ${javaScriptLiteral(`${baseUrl}/v1`)}, apiKey: process.env.GATEWAY_KEY });`,
  anthropic: (base: string) => `import Anthropic from '@anthropic-ai/sdk';

const client = new Anthropic({ baseURL: ${base}, apiKey: process.env.GATEWAY_KEY });`,
};

function needsTimeout({ library, body }: Sdk & { body: Body }): boolean {
  return library === 'anthropic' && body.stream !== true;
}

/** With OpenAI's or Anthropic's SDK if it makes the call, else with `requests`. */
export function pythonCode(call: WrittenCall): string {
  const sdk = sdkFor(call);
  if (sdk) return withPythonSdk(call, sdk);
  const { method, baseUrl, path, needsKey, body, answer } = call;
  const headers = [
    ...(needsKey ? [`"authorization": f"Bearer {os.environ['GATEWAY_KEY']}"`] : []),
    ...Object.entries(call.headers).map(([name, value]) => `${pythonLiteral(name)}: ${pythonLiteral(value)}`),
  ];
  const rows = [
    `    ${pythonLiteral(baseUrl + path)},`,
    ...(headers.length > 0 ? [`    headers={${headers.join(', ')}},`] : []),
    ...(body === undefined ? [] : [`    json=${pythonLiteral(body, '    ')},`]),
    ...(answer === 'stream' ? ['    stream=True,'] : []),
  ];
  const read = {
    json: 'print(response.json())',
    text: 'print(response.text)',
    stream: `for line in response.iter_lines(decode_unicode=True):
    print(line)`,
  }[answer];
  const imports = needsKey ? 'import os\nimport requests' : 'import requests';
  return `${imports}\n\nresponse = requests.${method.toLowerCase()}(\n${rows.join('\n')}\n)\n${read}`;
}

function withPythonSdk({ baseUrl, headers }: WrittenCall, sdk: Sdk & { body: Body }): string {
  const { library, method, result, body, named } = sdk;
  const isStream = body.stream === true;
  const entries = Object.entries(body);
  const known = entries.filter(([name]) => named.has(name));
  const others = entries.filter(([name]) => !named.has(name));
  const given = [
    ...known.map(([name, value]) => `${name}=${pythonLiteral(value, '    ')}`),
    ...(others.length > 0 ? [`extra_body=${pythonLiteral(Object.fromEntries(others), '    ')}`] : []),
    ...(Object.keys(headers).length > 0 ? [`extra_headers=${pythonLiteral(headers, '    ')}`] : []),
    ...(needsTimeout(sdk) ? [`timeout=${timeoutSeconds}`] : []),
  ];
  const line = given.join(', ');
  const isShort = line.length < 70 && !line.includes('\n');
  const passed = isShort ? line : `\n${given.map((one) => `    ${one},\n`).join('')}`;
  const name = isStream ? 'stream' : result;
  const [type, base] = library === 'openai' ? ['OpenAI', `${baseUrl}/v1`] : ['Anthropic', baseUrl];
  return [
    'import os',
    `from ${library} import ${type}`,
    '',
    `client = ${type}(base_url=${pythonLiteral(base)}, api_key=os.environ["GATEWAY_KEY"])`,
    '',
    `${name} = client.${method}(${passed})`,
    isStream
      ? `for event in stream:\n    print(${sdk.pythonPiece}, end="", flush=True)`
      : `print(${sdk.pythonText})`,
  ].join('\n');
}
