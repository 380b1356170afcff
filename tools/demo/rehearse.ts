import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isLoopbackHost } from '../../domain/kernel/outbound/host-rules.ts';
import type { DemoClient } from './client.ts';
import type { Say } from './collaborate.ts';
import { type DemoCrm, startCrmSimulator } from './crm-simulator.ts';
import { type MockHosts, recordHosts } from './mock-hosts.ts';
import { type RehearsedRelease, runRelease } from './rehearsed-release.ts';

const SIMULATOR = fileURLToPath(new URL('../../test/simulators/git-hosts.ts', import.meta.url));
const DISPATCH = /\/dispatches$/;
const TOKEN = /^\/services\/oauth2\/token$/;
const SLOW_MS = 2_000;

interface Host {
  url: string;
  close: () => Promise<void>;
}

/**
 * Records a release against simulators, and runs it again without them: first as it was, then with a host that is away
 * for a moment and an org that is slow.
 */
export async function showRehearsal(
  api: DemoClient,
  { url, suffix }: { url: string; suffix: string },
  say: Say,
): Promise<void> {
  if (!isLoopbackHost(new URL(url).hostname)) {
    say('not shown: hosts would be simulated on this machine, which the service is not on');
    return;
  }
  if (!existsSync(SIMULATOR)) {
    say('not shown: the simulators of hosts are part of the repository, not of the image');
    return;
  }
  const { gitHost } = (await import(SIMULATOR)) as { gitHost: (platform: string) => Promise<Host> };
  const running = new Set<{ close: () => Promise<void> }>();
  const stopSimulators = async () => {
    for (const one of running) await one.close();
    running.clear();
  };
  let mocks: MockHosts[] = [];
  try {
    const host = await gitHost('host-a');
    running.add(host);
    const crm = await startCrmSimulator(suffix);
    running.add(crm);
    say('chat is not recorded: the address of Slack is a setting of the service');
    say('a git host and CRM orgs are simulated on this machine; no host is real');
    const { release, recorded } = await recordAll(api, { host, crm, suffix, url }, say);
    mocks = recorded;
    await rehearse(api, release, recorded, 'recorded', say);
    for (const mock of recorded) await mock.stop();
    await stopSimulators();
    await sayGone([host.url, originOf(crm.org('acme').authUrl)], say);

    for (const mock of recorded) await mock.arm();
    await rehearse(api, release, recorded, 'again, without any host', say);
    for (const mock of recorded) await mock.sayReport();

    for (const mock of recorded) await mock.rewind();
    const [gitMock, orgMock] = recorded as [MockHosts, MockHosts];
    await gitMock.failOnce('POST', DISPATCH);
    await orgMock.slow('POST', TOKEN, SLOW_MS);
    await rehearse(api, release, recorded, 'with a host that is away for a moment and a slow org', say);
    await gitMock.sayCalls('POST', DISPATCH);
    for (const mock of recorded) await mock.sayReport();
  } finally {
    await stopSimulators();
    for (const mock of mocks) await mock.remove();
  }
  say('  the scenarios and what the release made are removed');
}

async function recordAll(
  api: DemoClient,
  { host, crm, suffix, url }: { host: Host; crm: DemoCrm; suffix: string; url: string },
  say: Say,
): Promise<{ release: RehearsedRelease; recorded: MockHosts[] }> {
  const [production, sandbox] = [crm.org('acme'), crm.org('acme-uat')];
  const gitMock = await recordHosts(
    api,
    { what: 'git host', workspace: `rehearsal-host-${suffix}`, upstream: host.url },
    say,
  );
  const orgMock = await recordHosts(
    api,
    {
      what: 'CRM orgs',
      workspace: `rehearsal-orgs-${suffix}`,
      upstream: originOf(production.authUrl),
      upstreams: [{ prefix: '/uat', upstream: originOf(sandbox.authUrl) }],
    },
    say,
  );
  say(`  ${gitMock.what} at /mocks/{key}, ${orgMock.what} at another one: production, and its sandbox below /uat`);
  const release: RehearsedRelease = {
    url,
    repositoryIdentifier: `demo/rehearsal-${suffix}`,
    suffix,
    hostUrl: gitMock.baseUrl,
    production: {
      username: production.username,
      authUrl: production.authUrl.replace(/@.*$/, `@${orgMock.baseUrl.replace(/^https?:\/\//, '')}`),
    },
    sandbox: { username: sandbox.username, name: 'uat' },
  };
  return { release, recorded: [gitMock, orgMock] };
}

/** Runs the release, and waits until nothing more is asked of the hosts. */
async function rehearse(
  api: DemoClient,
  release: RehearsedRelease,
  mocks: readonly MockHosts[],
  how: string,
  say: Say,
): Promise<void> {
  say(`the release, ${how}:`);
  const startedAt = performance.now();
  await runRelease(api, release, say);
  say(`  took ${((performance.now() - startedAt) / 1_000).toFixed(1)} s`);
  await Promise.all(mocks.map(({ settle }) => settle()));
}

async function sayGone(urls: readonly string[], say: Say): Promise<void> {
  for (const url of urls) {
    const answers = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answers) throw new Error(`The simulator at ${url} still answers.`);
  }
  say('the simulators are stopped: nothing answers at their addresses');
}

const originOf = (authUrl: string): string => `http://${authUrl.split('@').at(-1) ?? ''}`;
