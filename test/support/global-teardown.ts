export default async function teardown(): Promise<void> {
  await (globalThis as { stopServers?: () => Promise<void> }).stopServers?.();
}
