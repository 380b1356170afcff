import { checkDatabase, checkEngine } from './dependencies.ts';
import { metricsPortsOf, portOf, type StartSettings } from './start-settings.ts';

/** Refuses what is certain to fail before anything starts, by an `OperatorError`; answers the ports to use. */
export async function preflight(settings: StartSettings) {
  const { env, host, databaseUrl, temporalAddress, temporalNamespace } = settings;
  await Promise.all([
    databaseUrl !== undefined && checkDatabase(databaseUrl),
    temporalAddress !== undefined && checkEngine(temporalAddress, temporalNamespace),
  ]);
  return {
    port: await portOf(env, 'PORT', 3000, host),
    metricsPorts: await metricsPortsOf(settings),
    temporal: temporalAddress === undefined && {
      port: await portOf(env, 'TEMPORAL_PORT', 7233),
      uiPort: await portOf(env, 'TEMPORAL_UI_PORT', 8233),
    },
  };
}
