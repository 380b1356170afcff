import { join, resolve } from 'node:path';
import { DefaultLogger, makeTelemetryFilterString, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { createLockTurns } from '../domain/environment-locks/lock-turns.ts';
import { loadCommands } from '../domain/flows/commands-file.ts';
import { createFencedReads } from '../domain/data/fenced-reads.ts';
import { connectOrm } from '../domain/data/orm.ts';
import { connectPool } from '../domain/data/pool.ts';
import { onStop, reportReady, sentenceOf } from '../domain/process.ts';
import { objectStoreLocation } from '../domain/objects/object-store-location.ts';
import { ConfigError } from '../domain/shared/config.ts';
import { createEncryption } from '../domain/shared/encryption.ts';
import { loadKeys } from '../domain/shared/keys.ts';
import { unitOfWork } from '../domain/unit-of-work.ts';
import { configuredAddresses } from '../domain/webhooks/outbound-addresses.ts';
import { lockQuestions } from '../workflows/environment-locks/environment-lock.contract.ts';
import { reconcileSchedules, SYSTEM_QUEUE } from '../workflows/schedules.ts';
import { createTemporalClient } from '../workflows/temporal-client.ts';
import { temporalLaunch } from '../workflows/temporal-launch.ts';
import { createWakes } from '../workflows/wakes.contract.ts';
import { createObjectStore } from './adapters/object-store.ts';
import { createGitHosts } from './adapters/git-hosts.ts';
import { createGitBranches } from './adapters/git-branches.ts';
import { createProgramRunner } from './adapters/program-runner.ts';
import { startTelemetry } from './adapters/telemetry.ts';
import { createGitMirrors } from './adapters/git-mirrors.ts';
import { createWebhookSender } from './adapters/webhook-sender.ts';
import { chosenQueues, workerConfig } from './config.ts';
import type { Deps } from './deps.ts';
import { taskQueues } from './registry.ts';
import { sweepAll } from './system/sweep.activities.ts';
import { createFleet } from './worker.ts';

async function main(): Promise<void> {
  const config = workerConfig(process.env, process.argv.slice(2));
  const log = pino({ level: config.LOG_LEVEL, base: { process: 'worker' } });
  Runtime.install({
    logger: new DefaultLogger('WARN', ({ level, message, meta }) => {
      if (level === 'ERROR') log.error(meta, message);
      else log.warn(meta, message);
    }),
    // The native core would write to the console in a form of its own.
    telemetryOptions: { logging: { forward: {}, filter: makeTelemetryFilterString({ core: 'WARN', other: 'ERROR' }) } },
    // Signals are handled below, with the rest of the process.
    shutdownSignals: [],
  });
  const telemetry = startTelemetry('quayside-worker', config.OTEL_EXPORTER_OTLP_ENDPOINT);
  const engine = { address: config.TEMPORAL_ADDRESS, namespace: config.TEMPORAL_NAMESPACE, plugins: telemetry.plugins };
  const client = createTemporalClient(engine);
  const access = { databaseUrl: config.DATABASE_URL, poolSize: config.DATABASE_POOL_SIZE };
  const onLost = (error: Error) => log.warn({ err: error }, 'database connection lost');
  const orm = connectOrm({ ...access, role: config.DATABASE_APP_ROLE }, onLost);
  const systemPool = connectPool({ ...access, role: `${config.DATABASE_APP_ROLE}_lanes` }, onLost);
  const reads = createFencedReads({ ...access, role: config.DATABASE_APP_ROLE }, onLost);
  const launch = temporalLaunch(client, {
    queuePrefix: config.TASK_QUEUE_PREFIX,
    onError: (error) => log.warn({ err: error }, 'a wake failed; the sweep makes good for it'),
  });
  const wakes = createWakes(launch);
  const addresses = configuredAddresses(config);
  const webhookSender = createWebhookSender(addresses);
  const encryption = createEncryption(loadKeys(config).encryptionKeys);
  const actingAs: Deps['actingAs'] = (actor, context = {}) => unitOfWork(orm, { actor, ...context, wakes });
  const gitHosts = createGitHosts({ addresses, actingAs, encryption });
  const deps: Deps = {
    orm,
    reads,
    systemPool,
    actingAs,
    launch,
    lockTurns: createLockTurns(lockQuestions(launch)),
    sendWebhook: webhookSender.send,
    objects: createObjectStore(objectStoreLocation(config)),
    encryption,
    commands: loadCommands(config.COMMANDS_FILE),
    runProgram: createProgramRunner(),
    findGitHost: gitHosts.find,
    createBranch: createGitBranches({ allowLocal: config.ALLOW_LOCAL_GIT, addresses }),
    log,
    now: () => new Date(),
    webhookLogRetentionDays: config.WEBHOOK_LOG_RETENTION_DAYS,
    gitMirrors: createGitMirrors({
      folder: resolve(config.GIT_MIRROR_DIR ?? join(config.DATA_DIR, 'git')),
      allowLocal: config.ALLOW_LOCAL_GIT,
      addresses,
      log,
    }),
    gitFetchEverySeconds: config.GIT_FETCH_EVERY_SECONDS,
  };
  const queues = chosenQueues(taskQueues(deps), config.queues);
  const fleet = await createFleet({
    ...engine,
    queuePrefix: config.TASK_QUEUE_PREFIX,
    queues,
    bundlePath: config.WORKFLOW_BUNDLE,
  });
  const running = fleet.run();

  onStop(log, async () => {
    fleet.stop();
    await running;
    await Promise.all([
      orm.close(true),
      reads.close(),
      systemPool.end(),
      client.connection.close(),
      webhookSender.close(),
      gitHosts.close(),
    ]);
    await telemetry.shutdown();
  });
  if (queues.some(({ taskQueue }) => taskQueue === SYSTEM_QUEUE)) {
    await reconcileSchedules(client, config.TASK_QUEUE_PREFIX);
    await sweepAll(deps);
  }
  const names = queues.map(({ taskQueue }) => taskQueue);
  log.info({ queues: names }, 'working');
  reportReady({ queues: names });
  await running;
}

main().catch((error: unknown) => {
  process.stderr.write(sentenceOf(error, ConfigError));
  process.exit(1);
});
