import { fork } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { OperatorError } from '../operator-error.ts';

const PROGRAM = fileURLToPath(new URL('../../test/simulators/crm-org/start.ts', import.meta.url));
const READY_MS = 20_000;

/** Whether this installation has the simulator: it is among the tests, which the image leaves out. */
export const hasCrmSimulator = (): boolean => existsSync(PROGRAM);

export interface DemoOrg {
  /** What the simulator calls it. */
  name: string;
  username: string;
  authUrl: string;
}

/** Simulated CRM orgs in a process of their own, which ends with this one. */
export interface DemoCrm {
  /** The org whose name begins so. */
  org: (name: string) => DemoOrg;
  /** Sets how much of a limit an org has used. */
  setLimit: (org: DemoOrg, limitName: string, used: number) => Promise<void>;
  /** Writes a file of an org's metadata, as somebody does who works in the org. */
  writeFile: (org: DemoOrg, path: string, content: string, modifiedBy: string) => Promise<void>;
  removeFile: (org: DemoOrg, path: string) => Promise<void>;
  close: () => Promise<void>;
}

/** @param suffix of all names, so that the orgs are other ones each time. */
export async function startCrmSimulator(suffix: string): Promise<DemoCrm> {
  const child = fork(PROGRAM, ['--suffix', suffix], { stdio: ['ignore', 'pipe', 'inherit', 'ipc'], execArgv: [] });
  const ended = once(child, 'exit');
  const close = async () => {
    child.kill('SIGTERM');
    await ended;
  };
  try {
    const control = await controlUrlOf(child.stdout, AbortSignal.timeout(READY_MS));
    const act = async (method: string, path: string, body?: string, headers: Record<string, string> = {}) => {
      const response = await fetch(control + path, { method, headers, ...(body !== undefined && { body }) });
      if (!response.ok) throw new OperatorError(`The simulator refused ${method} ${path}: ${await response.text()}`);
      return response.json();
    };
    const { orgs } = (await act('GET', '/')) as { orgs: DemoOrg[] };
    return {
      org(name) {
        const found = orgs.find((each) => each.name === `${name}-${suffix}`);
        if (!found) throw new OperatorError(`The simulator has no org ${name}.`);
        return found;
      },
      setLimit: async ({ name }, limitName, used) => {
        await act('POST', `/orgs/${name}/limits`, JSON.stringify({ [limitName]: { used } }));
      },
      writeFile: async ({ name }, path, content, modifiedBy) => {
        await act('PUT', `/orgs/${name}/metadata/${path}`, content, { 'x-modified-by': modifiedBy });
      },
      removeFile: async ({ name }, path) => {
        await act('DELETE', `/orgs/${name}/metadata/${path}`);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function controlUrlOf(output: AsyncIterable<Buffer> | null, signal: AbortSignal): Promise<string> {
  let printed = '';
  for await (const part of output ?? []) {
    printed += part.toString('utf8');
    const [, url] = /^Control: (\S+)$/m.exec(printed) ?? [];
    if (url !== undefined) return url;
    signal.throwIfAborted();
  }
  throw new OperatorError('The simulator of CRM orgs did not start; it says why above.');
}
