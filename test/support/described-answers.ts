import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { formats } from '../../src/daemon/http/validation/input-check.ts';
import type { Endpoint } from '../../src/shared/contract/endpoint.ts';
import { documentedPath } from './endpoints.ts';

/** What these checks need of an OpenAPI document. */
export interface ApiDescription {
  paths: Record<string, Record<string, { responses: Record<string, DescribedResponse> }>>;
  components: { headers: Record<string, DescribedHeader> };
}

interface DescribedResponse {
  headers?: Record<string, DescribedHeader | { $ref: string }>;
  /** By media type. */
  content?: Record<string, { schema: { $ref?: string } }>;
}

interface DescribedHeader {
  required?: boolean;
  schema: { type: string };
}

export interface GivenAnswer {
  status: number;
  headers: Headers;
  text: string;
}

/** Compares answers with an OpenAPI document. Each schema is compiled once. */
export class DescribedAnswers {
  readonly #description: ApiDescription;
  readonly #ajv = new Ajv2020({ strict: false, formats });

  constructor(description: ApiDescription) {
    this.#description = description;
    this.#ajv.addSchema(description, 'openapi.json');
  }

  /** The check of the schema at a place in the document. */
  checkOf(...place: string[]): ValidateFunction {
    const pointer = place
      .map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1'))
      .map(encodeURIComponent)
      .join('/');
    const check = this.#ajv.getSchema(`openapi.json#/${pointer}`);
    if (check === undefined) throw new Error(`the description has no ${pointer}`);
    return check;
  }

  /** Where the description has an endpoint. */
  placeOf(endpoint: Endpoint): ['paths', path: string, method: string] {
    return ['paths', documentedPath(endpoint), endpoint.method.toLowerCase()];
  }

  /** Where an answer of an endpoint is not as described, in sentences. */
  faultsOf(endpoint: Endpoint, answer: GivenAnswer): string[] {
    const [, path, method] = this.placeOf(endpoint);
    const described = this.#description.paths[path]?.[method]?.responses[answer.status];
    if (described === undefined) return [`the status ${answer.status} is not described`];
    const place = [...this.placeOf(endpoint), 'responses', String(answer.status)];
    return [...this.#headerFaults(described, place, answer), ...this.#bodyFaults(described, place, answer)];
  }

  #headerFaults({ headers = {} }: DescribedResponse, place: string[], answer: GivenAnswer): string[] {
    return Object.entries(headers).flatMap(([name, described]) => {
      const isShared = '$ref' in described;
      const header = isShared ? this.#description.components.headers[name] : described;
      const text = answer.headers.get(name);
      if (text === null) return header?.required ? [`the header ${name} is missing`] : [];
      const check = this.checkOf(
        ...(isShared ? ['components', 'headers', name] : [...place, 'headers', name]),
        'schema',
      );
      // A header is a text, whatever it stands for.
      const value = header?.schema.type === 'integer' ? Number(text) : text;
      return check(value) ? [] : [`the header ${name} ${this.#ajv.errorsText(check.errors)}`];
    });
  }

  #bodyFaults({ content = {} }: DescribedResponse, place: string[], answer: GivenAnswer): string[] {
    const given = answer.headers.get('content-type')?.split(/; */) ?? [];
    const type = Object.keys(content).find(
      (described) => described === '*/*' || described.split(/; */).every((part) => given.includes(part)),
    );
    if (type === undefined) return [`the media type ${given.join('; ')} is not described`];
    // Most answers are one of a few schemas, each of which is compiled once.
    const shared = content[type]?.schema.$ref?.split('/').slice(1);
    const check = this.checkOf(...(shared ?? [...place, 'content', type, 'schema']));
    const value = given[0] === 'application/json' ? JSON.parse(answer.text) : answer.text;
    return check(value) ? [] : [this.#ajv.errorsText(check.errors, { dataVar: 'the body' })];
  }
}
