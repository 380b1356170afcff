import { readFileSync } from 'node:fs';
import { routes } from '../../api/routes.ts';
import { UNMOUNTED } from './unmounted-routes.ts';

const INTERFACE_FILE = new URL('./interface-routes.json', import.meta.url);

/** Routes that the service adds to the interface. */
const ADDITIONS = [
  /^\w+ \/api\/auth\/(refresh|logout|password-setup|set-password|sign-in|oidc\/(start|return))$/,
  /^\w+ \/api\/users\/me\/totp(\/confirm)?$/,
  /^POST \/api\/users\/me\/password$/,
  /^\w+ \/api\/users\/me\/invitations(\/\{id\}\/(accept|decline))?$/,
  /^GET \/api\/teams$/,
  /^GET \/api\/(release-candidates|environments)\/\{id\}\/timeline$/,
  /^POST \/api\/release-candidates\/\{id\}\/(verify|hold|release-hold)$/,
  /^POST \/api\/projects\/\{identifier\}\/policy-backtest$/,
  /^GET \/api\/(downloads|audit\/(verify|exports))$/,
  /^\w+ \/api\/application-tokens(\/|$)/,
  /^\w+ \/api\/integrations(\/|$)/,
  /^GET \/api\/auth\/crm\/(health|sandboxes)$/,
  /^(GET|PUT) \/api\/auth\/crm\/org\/maintenance$/,
  /^GET \/api\/orgs\/explorer\/(changes|compare|unpackaged)$/,
  /^PUT \/api\/orgs\/explorer\/internal\/contents\/\{sha256\}$/,
  /^\w+ \/api\/projects(\/|$)/,
  /^\w+ \/api\/environments(\/\{id\}(\/locks(\/\{ticketId\}(\/extend)?)?)?)?$/,
  /^\w+ \/api\/flows\/approvals(\/\{id\}(\/(approve|reject))?)?$/,
  /^\w+ \/api\/flows\/(types|health|runs\/\{id\}(\/(cancel|rerun|output|tests(\.xml)?|coverage))?|schedules(\/\{id\})?)$/,
  /^POST \/api\/flows\/internal\/\{id\}\/callback$/,
  /^(GET|POST) \/api\/webhooks\/(deliveries|preview)$/,
  /^POST \/api\/webhooks\/\{id\}\/(test|recover|rotate-secret|deliveries\/\{deliveryId\}\/redeliver)$/,
  /^GET \/api\/releases\/(work-items\/\{key\}|metrics|matrix|where|compare|\{name\}\/notes)$/,
  /^(GET|POST) \/api\/gc-ledger\/(destructive-changes|check(\/\{id\})?)$/,
  /^GET \/api\/testreports\/code-analysis\/(compare|results\/\{id\}\/sarif)$/,
  /^\w+ \/api\/review\/assignments(\/\{id\}(\/(extend|release))?)?$/,
  /^GET \/api\/browser-sessions\/providers$/,
  /^POST \/api\/browser-sessions\/\{id\}\/connect$/,
  /^\w+ \/api\/browser-sessions\/\{id\}\/live-links(\/\{linkId\})?$/,
  /^GET \/browser-sessions\/\{id\}\/live(\/(state|pictures))?$/,
  /^GET \/browser-session-assets\/\{name\}$/,
  /^(GET|POST) \/review-env\/\{assignmentId\}$/,
  /^\w+ \/api\/review\/pools(\/\{id\}(\/instances(\/\{instanceId\})?)?)?$/,
  /^(GET|POST) \/api\/metrics\/api\/v1\/(query|query_range|labels|series)$/,
  /^GET \/api\/metrics\/api\/v1\/(metadata|status\/buildinfo)$/,
  /^POST \/api\/hooks\/\{host\}$/,
  /^GET \/api\/mocks\/workspaces$/,
  /^POST \/api\/mocks\/workspaces\/\{workspace\}\/rotate-key$/,
  /^POST \/api\/mocks\/workspaces\/\{workspace\}\/scenarios\/(import|\{name\}\/(record|verify|drift))$/,
  /^GET \/api\/mocks\/workspaces\/\{workspace\}\/scenarios\/\{name\}\/(calls|report)$/,
  /^GET \/api\/slack\/manifest$/,
  /^POST \/api\/slack\/inbound\/\{key\}\/(commands|interactions|events)$/,
  /^POST \/api\/ai-reports\/cancel$/,
  /^GET \/api\/changes$/,
  /^(GET|POST) \/api\/attention(\/\{id\}\/acknowledge)?$/,
  /^POST \/api\/doc-store\/bulk$/,
  /^GET \/api\/doc-store\/collections\/\{collectionName\}\/docs\/\{key\}\/history$/,
];

const interfaceRoutes = (JSON.parse(readFileSync(INTERFACE_FILE, 'utf8')) as { method: string; path: string }[]).map(
  ({ method, path }) => `${method} ${path}`,
);
const mounted = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

test('every route of the interface is served or listed as not served yet', () => {
  const accounted = new Set([...mounted, ...UNMOUNTED]);
  expect(interfaceRoutes.filter((route) => !accounted.has(route))).toEqual([]);
});

test('the list of routes not served yet has no others', () => {
  expect(UNMOUNTED.filter((route) => !interfaceRoutes.includes(route) || mounted.includes(route))).toEqual([]);
});

test('every served route belongs to the interface or to the known additions', () => {
  const unknown = mounted.filter(
    (route) => !interfaceRoutes.includes(route) && !ADDITIONS.some((known) => known.test(route)),
  );
  expect(unknown).toEqual([]);
});

test('no route is served twice', () => {
  expect(mounted.filter((route, index) => mounted.indexOf(route) !== index)).toEqual([]);
});
