/** The parts of an OpenAPI document that the page shows. Source: the OpenAPI specification, version 3.1.0. */
export interface Description {
  info: { title: string; version: string; description: string };
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  operationId: string;
  summary: string;
  description: string;
  tags: string[];
  parameters?: Parameter[];
  /** An empty entry means that no credential is required. */
  security?: object[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, DocumentedAnswer>;
  'x-websocket'?: { message: Schema; event: Schema };
}

export interface Parameter {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  description?: string;
  schema: Schema;
}

export interface DocumentedAnswer {
  description: string;
  headers?: Record<string, { $ref?: string; description?: string }>;
  content?: Content;
}

export type Content = Record<string, { schema: Schema }>;

/** JSON Schema, as far as contracts use it. */
export interface Schema {
  $ref?: string;
  type?: string | string[];
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  patternProperties?: Record<string, Schema>;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  pattern?: string;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
}

/** An operation with its method and path. */
export interface Endpoint {
  /** In upper case. */
  method: string;
  path: string;
  operation: Operation;
}

/** All operations, in document order. */
export function endpointsOf({ paths }: Description): Endpoint[] {
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({
      method: method.toUpperCase(),
      path,
      operation,
    })),
  );
}
