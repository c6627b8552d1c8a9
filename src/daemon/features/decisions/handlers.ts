import {
  deleteCalibration,
  listCalibrations,
  putCalibration,
} from '../../../shared/contract/calibrations.ts';
import {
  createDecision,
  createSystemOne,
  type DecisionOptions,
  decisionDeadlineMs,
} from '../../../shared/contract/decisions.ts';
import type { Endpoint } from '../../../shared/contract/endpoint.ts';
import { ApiError, asApiError } from '../../../shared/errors.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Call, type Handler, implement, RelayReply } from '../../base/handler.ts';
import { type CallCapture, type Captures, headerText, readLabels } from '../calls/index.ts';
import type { Idempotency } from '../idempotency/index.ts';
import type { Calibrations } from './calibrations.ts';
import type { Decisions } from './decisions.ts';
import { type MeteringDeps, meterDecision } from './meter-decision.ts';
import type { DecisionRequest } from './question.ts';
import { readDecision, readSystemOne } from './read-decision.ts';
import { type Decided, renderDecision, renderSystemOne } from './render-decision.ts';
import type { Calibration } from './store.ts';

export interface DecisionHandlersDeps extends MeteringDeps {
  decisions: Pick<Decisions, 'decide'>;
  calibrations: Pick<Calibrations, 'list' | 'save' | 'remove'>;
  idempotency: Pick<Idempotency, 'once'>;
  captures: Pick<Captures, 'beginRequest'>;
  settings: { readonly questionsMax: number };
  /** Identifies this daemon to its peers. */
  nodeId: string;
}

type DecisionCall = Call<typeof createDecision> | Call<typeof createSystemOne>;

interface Asked {
  request: DecisionRequest;
  render: (decided: Decided) => unknown;
}

export function decisionHandlers(deps: DecisionHandlersDeps): Handler[] {
  const { settings } = deps;
  return [
    implement(createDecision, (call) =>
      answerDecision(deps, createDecision, call, {
        request: readDecision(call.body, settings),
        render: renderDecision,
      }),
    ),
    implement(createSystemOne, (call) =>
      answerDecision(deps, createSystemOne, call, {
        request: readSystemOne(call.body, settings),
        render: renderSystemOne,
      }),
    ),

    implement(listCalibrations, async () => ({
      object: 'list',
      data: deps.calibrations.list().map(calibrationView),
    })),

    implement(putCalibration, async ({ body }) => {
      const { model, type, temperature, examples, nll_before: nllBefore, nll_after: nllAfter } = body;
      const fittedAt = deps.world.now();
      const calibration = { model, type, temperature, examples, nllBefore, nllAfter, fittedAt };
      await deps.calibrations.save(calibration);
      return calibrationView(calibration);
    }),

    implement(deleteCalibration, async ({ query: { type, model } }) => {
      if (await deps.calibrations.remove({ type, model }))
        return { id: `${type}/${model}`, object: 'calibration', deleted: true };
      throw new ApiError('not_found', {
        message: `${model} has no calibration for questions of type ${type}.`,
      });
    }),
  ];
}

function calibrationView({ model, type, temperature, examples, nllBefore, nllAfter, fittedAt }: Calibration) {
  return {
    model,
    type,
    temperature,
    examples,
    nll_before: nllBefore,
    nll_after: nllAfter,
    fitted_at: isoTime(fittedAt),
  };
}

async function answerDecision(
  deps: DecisionHandlersDeps,
  endpoint: Endpoint,
  call: DecisionCall,
  { request, render }: Asked,
): Promise<RelayReply> {
  const { caller, requestId, headers, body, signal, remoteAddress } = call;
  const options: DecisionOptions = body.service ?? {};
  const via = textIn(headers['x-service-via'])?.split(/, ?/) ?? [];
  if (via.includes(deps.nodeId)) {
    throw new ApiError('unavailable', {
      message: 'The request came through this node before.',
      param: 'X-Service-Via',
    });
  }
  // The first call ends by its deadline, so a duplicate with the same body gets its answer within the same time.
  const deadlineMs = Math.min(
    options.deadline_ms ?? decisionDeadlineMs,
    Number(textIn(headers['x-service-deadline-ms']) ?? Number.POSITIVE_INFINITY),
  );
  const labels = readLabels(headers);
  const asked = { requestId, endpoint: endpoint.path, headers, body: call.rawBody ?? JSON.stringify(body) };
  const once = { caller, requestId, headers, body, signal, endpoint, isStreamed: false, waitMs: deadlineMs };
  const reply = await deps.idempotency.once(
    { ...once, ...(remoteAddress !== undefined && { remoteAddress }) },
    async (lasting) => {
      const order = headers['x-decision-order'] as 'peer' | 'hosted' | undefined;
      const run = (capture?: CallCapture) =>
        deps.decisions.decide({
          capture,
          caller,
          model: body.model,
          request,
          options,
          order,
          signal: lasting,
          requestId,
          via,
          idempotencyKey: textIn(headers['idempotency-key']),
          deadlineMs,
        });
      const decided = await (caller.kind === 'anonymous' || caller.kind === 'token'
        ? run()
        : meterDecision(
            deps,
            { caller, requestId, endpoint: endpoint.path, model: body.model, labels },
            {
              capture: () => deps.captures.beginRequest({ ...asked, caller, labels }),
              run: (capture) => captured(capture, { run, render }),
            },
          ));
      const answerHeaders = {
        'x-service-model': headerText(decided.answer.model),
        'x-service-upstream': headerText(decided.service.answered_by),
        'x-service-cost-usd': '0',
      };
      return new RelayReply(answerHeaders, JSON.stringify(render(decided)));
    },
  );
  if (!(reply instanceof RelayReply)) throw new TypeError('decisions are not streamed');
  return reply;
}

/** Keeps what a decision was asked and answered. */
async function captured(
  capture: CallCapture | undefined,
  { run, render }: { run: (capture?: CallCapture) => Promise<Decided> } & Pick<Asked, 'render'>,
): Promise<Decided> {
  try {
    const decided = await run(capture);
    capture?.answered(JSON.stringify(render(decided)));
    return decided;
  } catch (error) {
    capture?.failed(asApiError(error));
    throw error;
  } finally {
    capture?.ended();
  }
}

/** A header that occurs at most once. */
function textIn(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}
