import { Agent, Dispatcher } from 'undici';
import { RefusedAddressError } from '../../../domain/kernel/outbound/outbound-addresses.ts';
import type { HostAddresses } from '../../../domain/mocks/serving/own-mocks.ts';
import { permittedConnector, type Resolver } from './outbound-policy.ts';

export type AgentOptions = Agent.Options & { resolve?: Resolver | undefined };

/**
 * Connections that are kept open. With addresses: to permitted ones, and to mock workspaces of the service at the one
 * address that its configuration names; each request is checked by its path, those of redirects included.
 * @param addresses undefined: wherever the operator's configuration leads.
 */
export function createOutboundAgent(
  addresses: HostAddresses | undefined,
  { resolve, ...given }: AgentOptions,
): Dispatcher {
  const options = { allowH2: false, ...given };
  if (!addresses) return new Agent(options);
  const hosts = new Agent({ ...options, connect: permittedConnector(addresses, resolve) });
  const { findOwn } = addresses;
  return findOwn ? new HostAgent(hosts, new Agent(options), findOwn) : hosts;
}

class HostAgent extends Dispatcher {
  readonly #hosts: Agent;
  readonly #own: Agent;
  readonly #findOwn: NonNullable<HostAddresses['findOwn']>;

  constructor(hosts: Agent, own: Agent, findOwn: NonNullable<HostAddresses['findOwn']>) {
    super();
    this.#hosts = hosts;
    this.#own = own;
    this.#findOwn = findOwn;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const own = this.#findOwn(String(options.origin) + options.path);
    if (own === undefined) return this.#hosts.dispatch(options, handler);
    if (own === 'refused') throw new RefusedAddressError('the service itself is called below /mocks/ only');
    const { origin, path, host } = own;
    const named = {
      ...options,
      origin,
      path,
      headers: withHost(options.headers, host),
      // Its certificate is that of the address, whatever host the request names.
      servername: new URL(origin).hostname,
    };
    return this.#own.dispatch(named, handler);
  }

  override async destroy(): Promise<void> {
    await Promise.all([this.#hosts.destroy(), this.#own.destroy()]);
  }

  override async close(): Promise<void> {
    await Promise.all([this.#hosts.close(), this.#own.close()]);
  }
}

type Headers = NonNullable<Dispatcher.DispatchOptions['headers']>;

function withHost(headers: Headers | null | undefined, host: string): Headers {
  if (headers === null || headers === undefined) return { host };
  if (Array.isArray(headers)) return [...headers, 'host', host];
  if (Symbol.iterator in headers) return [...(headers as Iterable<[string, string]>), ['host', host]];
  return { ...headers, host };
}
