import type { GitHostSimulator } from '../git-hosts.ts';
import { type ControlRequest, type ControlServer, controlServer } from '../control-server.ts';
import type { Fault, HostServer } from '../host-server.ts';
import type { JiraSimulator } from './jira.ts';

export interface SimulatedTrackers {
  'host-a': GitHostSimulator;
  'host-b': GitHostSimulator;
  'tracker-a': JiraSimulator;
}

/** What the control address takes, for its own list of actions. */
export const ACTIONS = [
  'GET /                                    the trackers with their addresses and credentials',
  'GET /{tracker}                           its work items, with their comments and labels',
  'POST /host-a/issues {"repository": "acme/shop", "title": "An issue", "labels": ["bug"]}',
  'POST /host-b/work-items {"place": "acme/shop", "fields": {"System.Title": "A task"}}',
  'POST /tracker-a/issues {"project": "SHOP", "summary": "A story"}',
  'POST /{tracker}/faults {"fault": "hang", "times": 1, "path": "/comments"}',
  '    faults: hang html lost, or a reply {"status": 503, "body": {}}',
  'POST /{tracker}/limit {"remaining": 0, "seconds": 3600}; without members: none',
] as const;

/** Changes simulated trackers from outside, for `npm run tracker-simulator` and demonstrations. */
export const trackerControl = (
  trackers: SimulatedTrackers,
  credentials: Record<keyof SimulatedTrackers, object>,
  port = 0,
): Promise<ControlServer> => controlServer((request) => act(trackers, credentials, request), port);

function act(
  trackers: SimulatedTrackers,
  credentials: Record<keyof SimulatedTrackers, object>,
  { method, url, fields }: ControlRequest,
): unknown {
  if (method === 'GET' && url === '/') {
    const shown = Object.entries<HostServer>({ ...trackers }).map(([kind, { url: baseUrl }]) => ({
      kind,
      baseUrl,
      credentials: credentials[kind as keyof SimulatedTrackers],
    }));
    return { isSimulator: true, trackers: shown, actions: ACTIONS };
  }
  const [, kind = '', action = ''] = /^\/(host-a|host-b|tracker-a)(?:\/([a-z-]+))?$/.exec(url) ?? [];
  const items: Record<string, () => unknown> = {
    'host-a': () => trackers['host-a'].issues.all,
    'host-b': () => trackers['host-b'].boards.all,
    'tracker-a': () => trackers['tracker-a'].issues,
  };
  const server = kind === '' ? undefined : trackers[kind as keyof SimulatedTrackers];
  if (!server) throw new Error(`${method} ${url} is none of:\n${ACTIONS.join('\n')}`);
  if (method === 'GET') return items[kind]?.();
  const {
    repository,
    project,
    place,
    fields: itemFields,
    fault,
    times = 1,
    path = '',
    remaining,
    seconds,
    ...given
  } = fields();
  switch (`${kind}/${action}`) {
    case 'host-a/issues':
      return trackers['host-a'].issues.add(String(repository), given);
    case 'host-b/work-items':
      return trackers['host-b'].boards.add(String(place), itemFields as object);
    case 'tracker-a/issues':
      return trackers['tracker-a'].add(String(project), given);
    case `${kind}/faults`:
      server.failNext(fault as Fault, { path: new RegExp(path as string), times: Number(times) });
      return { fault };
    case `${kind}/limit`: {
      const resetAt = new Date(Date.now() + Number(seconds ?? 60) * 1_000);
      server.limit = remaining === undefined ? undefined : { remaining: Number(remaining), resetAt };
      return { limit: server.limit ?? null };
    }
    default:
      throw new Error(`${method} ${url} is none of:\n${ACTIONS.join('\n')}`);
  }
}
