import type { Config } from '../config/config.ts';
import {
  caddyRoute,
  caddyRouteId,
  nginxLocations,
  type ProxyConfig,
  type ProxyTarget,
} from '../features/paywalls/index.ts';
import { applyToCaddy } from '../reverse-proxy/caddy-target.ts';
import { nginxTarget } from '../reverse-proxy/nginx-target.ts';
import type { ReverseProxy } from '../reverse-proxy/reverse-proxy.ts';
import type { AppDeps } from './app-deps.ts';

/** What serves paywalls: the embedded proxy, and the others, which forward to it and therefore wait for it. */
export function proxyTargets(
  proxy: Pick<ReverseProxy, 'listen' | 'url'>,
  { paywalls: { host, port, caddy, nginx }, world }: Pick<AppDeps, 'paywalls' | 'world'>,
): ProxyTarget[] {
  const embedded: ProxyTarget = {
    name: 'embedded',
    async apply({ paywalls }) {
      if (paywalls.length > 0) await proxy.listen({ host, port });
    },
  };
  const exported = async (config: ProxyConfig) => {
    await embedded.apply(config);
    return { paywalls: config.paywalls, embedded: proxy.url?.host ?? '' };
  };
  const targets = [embedded];
  if (caddy) {
    const options = { id: caddyRouteId, send: world.send };
    targets.push({
      name: 'caddy',
      apply: async (config) => await applyToCaddy(caddy, caddyRoute(await exported(config)), options),
    });
  }
  if (nginx) {
    const applyToNginx = nginxTarget(nginx);
    targets.push({
      name: 'nginx',
      apply: async (config) => await applyToNginx(nginxLocations(await exported(config))),
    });
  }
  return targets;
}

/** Unless they are listed: proxies that the daemon configures run on this machine. */
export function proxiesInFront({
  trustedProxies: listed,
  caddy,
  nginx,
}: Config['paywalls']): readonly string[] {
  return listed ?? (caddy || nginx ? ['127.0.0.1', '::1'] : []);
}
