import type { Json } from './scripted-provider.ts';

export interface GeminiRefusal {
  status: number;
  /** As `INVALID_ARGUMENT`. */
  name: string;
  message: string;
  details?: Json[];
}

/** Thrown and caught in this file. */
class Refused extends Error {}

/**
 * Why the Gemini API would refuse a body; undefined if it is valid. `sign` returns the signature of the requested model's
 * calls. The messages are similar to the API's.
 */
export function refusalOf(
  body: Json,
  model: string,
  sign: (call: string) => string,
): GeminiRefusal | undefined {
  try {
    check(body, model, sign);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { status: 400, name: 'INVALID_ARGUMENT', message: error.message };
  }
}

const fields = ['contents', 'systemInstruction', 'tools', 'toolConfig', 'generationConfig', 'safetySettings'];
const configFields = [
  'temperature',
  'topP',
  'topK',
  'maxOutputTokens',
  'stopSequences',
  'candidateCount',
  'seed',
  'presencePenalty',
  'frequencyPenalty',
  'responseMimeType',
  'responseJsonSchema',
  'thinkingConfig',
  'responseModalities',
];
const partFields = ['text', 'inlineData', 'fileData', 'functionCall', 'functionResponse'];

function check(body: Json, model: string, sign: (call: string) => string): void {
  onlyKnown(body, fields);
  const config = object(body.generationConfig);
  onlyKnown(config, configFields);
  checkConfig(body, config, model);
  checkTools(body);
  const contents = list(body.contents);
  must(contents.length > 0, 'contents is not specified');
  for (const [at, content] of contents.entries()) checkContent(content, at);
  checkCalls(contents);
  if (/gemini-[3-9]/.test(model)) checkSignatures(contents, sign);
}

function checkConfig(body: Json, config: Json, model: string): void {
  const isOld = /gemini-[12]/.test(model);
  const { thinkingLevel, thinkingBudget } = object(config.thinkingConfig);
  const both = thinkingLevel !== undefined && thinkingBudget !== undefined;
  must(!both, 'You can only set only one of thinking budget and thinking level.');
  must(!(isOld && thinkingLevel !== undefined), 'Thinking level is not supported for this model.');
  const refusesMinimal = /pro|3\.[78]-flash$/.test(model);
  must(
    !(refusesMinimal && thinkingLevel === 'MINIMAL'),
    'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.',
  );
  const hasPenalty = config.presencePenalty !== undefined || config.frequencyPenalty !== undefined;
  must(!hasPenalty || /gemini-(1|2\.0)/.test(model), `Penalty is not enabled for models/${model}`);
  if (config.responseMimeType !== 'application/json') return;
  must(
    !isOld || !body.tools,
    "Function calling with a response mime type: 'application/json' is unsupported",
  );
  must(
    callingMode(body) !== 'ANY',
    "Forced function calling (ANY mode) with a response mime type: 'application/json' is unsupported",
  );
}

function checkTools(body: Json): void {
  const declared = list(body.tools).flatMap((tool) => list(tool.functionDeclarations));
  for (const declaration of declared) {
    onlyKnown(declaration, ['name', 'description', 'parametersJsonSchema']);
    must(/^[a-zA-Z_][\w.:-]{0,127}$/.test(String(declaration.name)), 'Invalid function name.');
  }
  const calling = object(object(body.toolConfig).functionCallingConfig);
  const names = (calling.allowedFunctionNames ?? []) as string[];
  must(
    names.length === 0 || calling.mode === 'ANY',
    'allowed_function_names should only be set when mode is ANY',
  );
  for (const name of names) {
    must(
      declared.some((declaration) => declaration.name === name),
      'Some of the allowed function names are not declared.',
    );
  }
}

function checkContent(content: Json, at: number): void {
  must(content.role === 'user' || content.role === 'model', 'Please use a valid role: user, model.');
  const parts = list(content.parts);
  must(parts.length > 0, `* GenerateContentRequest.contents[${at}].parts: contents.parts must not be empty.`);
  for (const part of parts) {
    onlyKnown(part, [...partFields, 'thought', 'thoughtSignature']);
    const data = partFields.filter((field) => part[field] !== undefined);
    must(
      data.length === 1,
      `contents[${at}].parts: required oneof field 'data' must have one initialized field`,
    );
    const call = part.functionCall as Json | undefined;
    must(
      !call || isObject(call.args),
      `Invalid value at 'contents[${at}].parts[0].function_call.args' (type.googleapis.com/google.protobuf.Struct)`,
    );
    const response = part.functionResponse as Json | undefined;
    must(
      !response || response.name,
      `* GenerateContentRequest.contents[${at}].parts[0].function_response.name: Name cannot be empty.`,
    );
    must(
      !response || isObject(response.response),
      `Invalid value at 'contents[${at}].parts[0].function_response.response' (type.googleapis.com/google.protobuf.Struct)`,
    );
  }
}

function checkCalls(contents: Json[]): void {
  must(
    contents.at(-1)?.role === 'user',
    'Please ensure that multiturn requests end with a user role or a function response.',
  );
  for (const content of contents) {
    const parts = list(content.parts);
    const responses = parts.filter((part) => part.functionResponse !== undefined);
    must(
      responses.length === 0 || responses.length === parts.length,
      'Requests ending with a model turn are not supported.',
    );
  }
  contents.forEach((content, at) => {
    const calls = list(content.parts).filter((part) => part.functionCall !== undefined);
    if (calls.length === 0) return;
    must(
      contents[at - 1]?.role === 'user',
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
    );
    const responses = list(contents[at + 1]?.parts).filter((part) => part.functionResponse !== undefined);
    must(
      responses.length === calls.length,
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    );
    calls.forEach((call, place) => {
      const called = object(call.functionCall);
      const answered = object(object(responses[place]).functionResponse);
      must(
        called.name === answered.name && called.id === answered.id,
        'A function response does not match its call.',
      );
    });
  });
}

/** After the user's last text, the first call of each turn must be signed. */
function checkSignatures(contents: Json[], sign: (call: string) => string): void {
  const current = contents.findLastIndex(
    ({ role, parts }) => role === 'user' && list(parts).some((part) => part.text !== undefined),
  );
  const known = (signature: unknown, of: string) =>
    ['skip_thought_signature_validator', sign(of)].includes(signature as string);
  contents.forEach((content, at) => {
    const drawn = list(content.parts).filter(
      (part) => content.role === 'model' && part.inlineData !== undefined,
    );
    for (const { thoughtSignature } of drawn) {
      must(known(thoughtSignature, 'picture'), 'Image part is missing a thought_signature.');
    }
    const first = list(content.parts).find((part) => part.functionCall !== undefined);
    const name = String(object(first?.functionCall).name);
    if (!first) return;
    if (at > current)
      must(
        first.thoughtSignature,
        `Function call \`${name}\` in the \`${at}.\` content block is missing a \`thought_signature\`.`,
      );
    const isKnown = first.thoughtSignature === undefined || known(first.thoughtSignature, name);
    must(isKnown, 'Corrupted thought signature.');
  });
}

function callingMode(body: Json): unknown {
  return object(object(body.toolConfig).functionCallingConfig).mode;
}

function onlyKnown(value: Json, known: readonly string[]): void {
  for (const name of Object.keys(value))
    must(known.includes(name), `Invalid JSON payload received. Unknown name "${name}": Cannot find field.`);
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function object(value: unknown): Json {
  return isObject(value) ? (value as Json) : {};
}

function list(value: unknown): Json[] {
  return Array.isArray(value) ? (value as Json[]) : [];
}

function must(holds: unknown, message: string): void {
  if (!holds) throw new Refused(message);
}
