import { localModelsProvider } from '../../../shared/constants/engine-library.ts';
import {
  addEngineModel,
  checkEngineModel,
  type EngineModelView,
  listEngineModels,
  removeEngineModel,
} from '../../../shared/contract/engine.ts';
import { wellFormedMembers } from '../../../shared/faults/input-faults.ts';
import { isoTime } from '../../../shared/time/time.ts';
import { type Handler, implement } from '../../base/handler.ts';
import { type EngineModels, libraryMissing, type OpenModel } from './engine-models.ts';

/** The endpoints of the host's owner for the embedded engine. */
export function engineHandlers(models: EngineModels): Handler[] {
  const view = (model: OpenModel) => viewOf(model, models.isInstalled);
  return [
    implement(listEngineModels, async () => ({ object: 'list', data: models.list().map(view) })),

    implement(addEngineModel, async ({ body }) => {
      const { path, name, as: role } = wellFormedMembers(body);
      return view(await models.add({ path, name, role }));
    }),

    implement(checkEngineModel, async ({ params }) => {
      const { model, problem, loadMs, decisionMs } = await models.check(params.name);
      const rounded = (ms: number | null) => (ms === null ? null : Math.round(ms));
      return { ...view(model), problem, load_ms: rounded(loadMs), decision_ms: rounded(decisionMs) };
    }),

    implement(removeEngineModel, async ({ params: { name } }) => {
      await models.remove(name);
      return { id: name, object: 'engine_model', deleted: true };
    }),
  ];
}

function viewOf(
  { name, path, bytes, sha256, architecture, role, addedAt, running }: OpenModel,
  isInstalled: boolean,
): EngineModelView {
  return {
    object: 'engine_model',
    name,
    path,
    bytes,
    sha256,
    architecture,
    as: role,
    model: `${localModelsProvider}/${name}`,
    pid: running.pid ?? null,
    available: isInstalled,
    reason: isInstalled ? null : `${libraryMissing}.`,
    added_at: isoTime(addedAt),
  };
}
