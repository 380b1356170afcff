/** Exits with 0 when the API or the worker of this container says that it is healthy. */
const url = `http://127.0.0.1:${process.env.METRICS_PORT || 9464}/healthz`;
const isHealthy = await fetch(url, { signal: AbortSignal.timeout(5_000) }).then(
  ({ ok }) => ok,
  () => false,
);
process.exitCode = isHealthy ? 0 : 1;
