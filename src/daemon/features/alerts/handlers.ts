import {
  deleteAlert,
  getAlert,
  listAlerts,
  listFirings,
  previewAlert,
  putAlert,
  testAlert,
} from '../../../shared/contract/alerts.ts';
import { pageSizeDefault } from '../../../shared/contract/vocabulary.ts';
import { type Handler, implement, keyOrLogin, loginOf } from '../../base/handler.ts';
import { alertView, deliveryView, firingView } from './alert-view.ts';
import type { Alerts } from './alerts.ts';

export function alertHandlers(alerts: Alerts): Handler[] {
  return [
    implement(listAlerts, async ({ caller, params }) => {
      const listed = await alerts.list(keyOrLogin(caller), params.workspace);
      return { object: 'list', data: listed.map(alertView), has_more: false, next: null };
    }),

    implement(getAlert, async ({ caller, params }) =>
      alertView(await alerts.get(keyOrLogin(caller), params.workspace, params.id)),
    ),

    implement(
      putAlert,
      async ({ caller, params: { workspace, id }, body }) => {
        const { secret, ...saved } = await alerts.put(loginOf(caller), workspace, { id, settings: body });
        return { ...alertView(saved), webhook_secret: secret };
      },
      ({ caller, params }) => alerts.permit(loginOf(caller), params.workspace),
    ),

    implement(deleteAlert, async ({ caller, params: { workspace, id } }) => {
      await alerts.remove(loginOf(caller), workspace, id);
      return { id, object: 'alert', deleted: true };
    }),

    implement(listFirings, async ({ caller, params, query }) => {
      const { alert: alertId, open: isOpen, after, limit = pageSizeDefault } = query;
      const filter = { alertId, isOpen, after, limit: limit + 1 };
      const found = await alerts.firings(keyOrLogin(caller), params.workspace, filter);
      const page = found.slice(0, limit);
      const hasMore = found.length > limit;
      const next = hasMore ? (page.at(-1)?.id ?? null) : null;
      return { object: 'list', data: page.map(firingView), has_more: hasMore, next };
    }),

    implement(testAlert, async ({ caller, params: { workspace, id } }) =>
      deliveryView(await alerts.test(loginOf(caller), workspace, id)),
    ),

    implement(previewAlert, ({ caller, params, body }) =>
      alerts.preview(keyOrLogin(caller), params.workspace, body),
    ),
  ];
}
