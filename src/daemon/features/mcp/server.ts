import {
  type CallToolResult,
  type ProgressToken,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { openApi } from '../../../shared/contract/daemon.ts';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { standalone } from '../../../shared/contract/schema.ts';
import { listUsage } from '../../../shared/contract/usage.ts';
import { ApiError } from '../../../shared/errors.ts';
import { utcDay } from '../../../shared/time/time.ts';
import { version } from '../../../shared/version.ts';
import type { Sender } from '../../base/inner-calls.ts';
import type { World } from '../../base/world.ts';
import { fittedArguments, withSingleTypes } from './arguments.ts';
import type { McpDeps } from './deps.ts';
import { type Ask, askFor } from './inner-call.ts';
import type { Tool, ToolAnswer } from './tool.ts';
import { getKeyTool, getUsageTool, listKeysTool, statusTool, sumUsageTool } from './tools/account.ts';
import { decideTool } from './tools/decide.ts';
import { getModelTool, listModelsTool, listRatesTool } from './tools/models.ts';
import { respondTool } from './tools/respond.ts';
import {
  createInvoiceTool,
  getInvoiceTool,
  getPaymentTool,
  payInvoiceTool,
  walletBalanceTool,
} from './tools/wallet.ts';
import { listWhispersTool, sendWhisperTool } from './tools/whispers.ts';

const tools: readonly Tool[] = [
  listModelsTool,
  getModelTool,
  listRatesTool,
  respondTool,
  decideTool,
  sumUsageTool,
  getUsageTool,
  getKeyTool,
  listKeysTool,
  statusTool,
  listWhispersTool,
  sendWhisperTool,
  walletBalanceTool,
  createInvoiceTool,
  getInvoiceTool,
  payInvoiceTool,
  getPaymentTool,
];

const instructions =
  'Gateway: call models of many providers through one API, and see prices and usage. Prices and costs are US dollars as decimal strings; wallets count in satoshis.';

/** A server for one message: its tools and resources depend on the sender. */
export function serverFor(deps: McpDeps, sender: Sender): Server {
  const ask = askFor(deps.calls, sender);
  const server = new Server(
    { name: 'gateway', title: 'Gateway', version },
    { capabilities: { tools: {}, resources: {} }, instructions },
  );
  server.setRequestHandler('tools/list', () => ({ tools: toolsFor(ask).map(described) }));
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }, context) => {
    const tool = tools.find((it) => it.name === name);
    if (tool === undefined) throw badParams(`There is no tool \`${name}\`.`);
    const fitted = fittedArguments(tool.input, given, (text) => deps.parse(Buffer.from(text)));
    const fault = deps.faultIn(tool.input, fitted);
    if (fault !== undefined) throw badParams(`${tool.name}: ${fault}`);
    return run(deps, tool, fitted, { ask, context });
  });
  server.setRequestHandler('resources/list', () => ({
    resources: resourcesFor(ask).map(({ uri, name, title, description }) => ({
      uri,
      name,
      title,
      description,
      mimeType: 'application/json',
    })),
  }));
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [] }));
  server.setRequestHandler('resources/read', ({ params: { uri } }) => read(deps, uri, ask));
  return server;
}

const badParams = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

function toolsFor(ask: Ask): Tool[] {
  return tools.filter(({ endpoints }) => endpoints.some(ask.mayCall));
}

export function resourcesFor(ask: Ask) {
  return resources.filter(({ endpoint }) => ask.mayCall(endpoint));
}

function described({ name, title, description, input, isReadOnly, isDestructive = false }: Tool) {
  return {
    name,
    title,
    description,
    inputSchema: withSingleTypes(standalone(input)) as { type: 'object' },
    annotations: {
      readOnlyHint: isReadOnly,
      destructiveHint: isDestructive,
      idempotentHint: isReadOnly,
      openWorldHint: !isReadOnly,
    },
  };
}

interface Running {
  ask: Ask;
  context: ServerContext;
}

/** Errors of a tool are returned as its result, so that the model can read them and correct itself. */
async function run(deps: McpDeps, tool: Tool, given: object, running: Running): Promise<CallToolResult> {
  const { ask, context } = running;
  try {
    const elapsed = () => deps.world.elapsed();
    return asResult(await tool.run(given, { ask, elapsed, reportProgress: progressReporter(context) }));
  } catch (thrown) {
    const error = thrown instanceof ApiError ? thrown : new ApiError('server_error', { cause: thrown });
    if (error.code === 'server_error') deps.log.warn({ err: thrown, tool: tool.name }, 'a tool failed');
    const { type, code, message, param } = error;
    return asResult({
      data: { error: { ...error.extra, type, code, message, param } },
      text: message,
      hasFailed: true,
    });
  }
}

function asResult({ data, text = JSON.stringify(data), hasFailed = false }: ToolAnswer): CallToolResult {
  return {
    content: [{ type: 'text', text }],
    structuredContent: data,
    ...(hasFailed && { isError: true }),
  };
}

function progressReporter({ mcpReq }: ServerContext) {
  const progressToken: ProgressToken | undefined = mcpReq._meta?.progressToken;
  if (progressToken === undefined) return undefined;
  return (message: string, progress: number) =>
    mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, message } });
}

async function read(deps: McpDeps, uri: string, ask: Ask) {
  const resource = resourcesFor(ask).find((it) => it.uri === uri);
  if (resource === undefined)
    throw new ProtocolError(ProtocolErrorCode.ResourceNotFound, 'No such resource.');
  try {
    const text = JSON.stringify(await resource.read(ask, deps.world));
    return { contents: [{ uri, mimeType: 'application/json', text }] };
  } catch (thrown) {
    if (!(thrown instanceof ApiError)) deps.log.warn({ err: thrown, uri }, 'a resource could not be read');
    const message = thrown instanceof ApiError ? thrown.message : 'Internal server error.';
    throw new ProtocolError(ProtocolErrorCode.InternalError, message);
  }
}

/** JSON that a client can give to a model as context. */
interface Resource {
  uri: string;
  name: string;
  title: string;
  description: string;
  /** The resource is offered to those who may call this endpoint. */
  endpoint: Endpoint;
  read(ask: Ask, world: Pick<World, 'now'>): Promise<unknown>;
}

const resources: readonly Resource[] = [
  {
    uri: 'gateway://openapi.json',
    name: 'openapi.json',
    title: 'The API of this gateway',
    description: 'Every endpoint with its schemas, in OpenAPI 3.1.',
    endpoint: openApi,
    read: (ask) => ask.whole(openApi, {}),
  },
  {
    uri: 'gateway://usage/today',
    name: 'usage-today',
    title: 'Today’s usage',
    description: 'Requests, tokens and cost in US dollars of this UTC day, in total and by model.',
    endpoint: listUsage,
    read: (ask, world) => ask.whole(listUsage, { query: { since: utcDay(world.now()), group_by: 'model' } }),
  },
];
