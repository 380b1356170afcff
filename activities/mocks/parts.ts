import type { OutboundAddresses } from '../../domain/kernel/outbound/outbound-addresses.ts';
import { createOwnListeners, type OwnListeners } from '../../domain/kernel/outbound/own-listeners.ts';
import { internalUrlOf, mocksUrlOf, publicUrlOf } from '../../domain/kernel/settings/config.ts';
import {
  findOwnMocks,
  type HostAddresses,
  withoutAny,
  withoutOwn,
  withOwnMocks,
} from '../../domain/mocks/serving/own-mocks.ts';
import type { ForwardUpstream } from '../../domain/mocks/serving/upstream.port.ts';
import { createMockUpstream } from '../adapters/mocks/mock-upstream.ts';
import type { Base, Made } from '../base.ts';

export interface MockParts {
  /** Addresses of git hosts and CRM orgs that may be called; mock workspaces may stand in for them. */
  hosts: HostAddresses;
  /** Addresses that mock scenarios may pass requests on to. */
  mockUpstreams: OutboundAddresses;
  /** Where this service listens on this machine, so that mock scenarios do not call it. */
  listeners: OwnListeners;
}

export function createMockParts({ config, outbound }: Pick<Base, 'config' | 'outbound'>): MockParts {
  const findOwn = findOwnMocks({
    publicUrl: publicUrlOf(config),
    mocksUrl: mocksUrlOf(config),
    internalUrl: config.INTERNAL_URL === undefined ? mocksUrlOf(config) : internalUrlOf(config),
  });
  const listeners = createOwnListeners([config.PORT, config.METRICS_PORT]);
  return {
    hosts: withOwnMocks(outbound, findOwn),
    mockUpstreams:
      config.isProduction && config.MOCKS_URL === undefined
        ? withoutAny(outbound)
        : withoutOwn(outbound, findOwn, listeners),
    listeners,
  };
}

export interface MockWork {
  mocks: { forward: ForwardUpstream };
}

export function createMockWork({
  mockUpstreams,
  publicUrl,
}: Pick<MockParts, 'mockUpstreams'> & Pick<Base, 'publicUrl'>): Made<MockWork> {
  const { forward, close } = createMockUpstream(mockUpstreams, publicUrl);
  return { parts: { mocks: { forward } }, close };
}
