import { readFileSync } from 'node:fs';
import { routes } from '../../api/routes.ts';
import { UNMOUNTED } from './unmounted-routes.ts';

const INTERFACE_FILE = new URL('../../../shared/routes.json', import.meta.url);

/** Routes that the service has beyond the interface. */
const BEYOND = [
  /^\w+ \/api\/auth\/(refresh|logout|password-setup|set-password|sign-in|oidc\/(start|return))$/,
  /^\w+ \/api\/users\/me\/totp(\/confirm)?$/,
  /^POST \/api\/users\/me\/password$/,
  /^GET \/api\/teams$/,
  /^GET \/api\/(downloads|audit\/verify)$/,
  /^\w+ \/api\/application-tokens(\/|$)/,
  /^\w+ \/api\/integrations(\/|$)/,
  /^\w+ \/api\/projects(\/|$)/,
  /^\w+ \/api\/environments(\/\{id\}(\/locks(\/\{ticketId\}(\/extend)?)?)?)?$/,
  /^\w+ \/api\/flows\/approvals(\/\{id\}(\/(approve|reject))?)?$/,
  /^\w+ \/api\/flows\/(types|health|runs\/\{id\}(\/(cancel|rerun|output))?|schedules(\/\{id\})?)$/,
  /^POST \/api\/flows\/internal\/\{id\}\/callback$/,
  /^POST \/api\/webhooks\/\{id\}\/(test|recover|rotate-secret|deliveries\/\{deliveryId\}\/redeliver)$/,
  /^GET \/api\/releases\/(work-items\/\{key\}|metrics|\{name\}\/notes)$/,
  /^POST \/api\/hooks\/\{host\}$/,
  /^POST \/api\/doc-store\/bulk$/,
  /^GET \/api\/doc-store\/collections\/\{collectionName\}\/docs\/\{key\}\/history$/,
];

const interfaceRoutes = (JSON.parse(readFileSync(INTERFACE_FILE, 'utf8')) as { method: string; path: string }[]).map(
  ({ method, path }) => `${method} ${path}`,
);
const mounted = routes.map(({ method, path }) => `${method.toUpperCase()} ${path}`);

test('every route of the interface is served or stands on the list of those that are not', () => {
  const accounted = new Set([...mounted, ...UNMOUNTED]);
  expect(interfaceRoutes.filter((route) => !accounted.has(route))).toEqual([]);
});

test('the list of unserved routes names only routes of the interface that are unserved', () => {
  expect(UNMOUNTED.filter((route) => !interfaceRoutes.includes(route) || mounted.includes(route))).toEqual([]);
});

test('every served route is of the interface or a known one beyond it', () => {
  const unknown = mounted.filter(
    (route) => !interfaceRoutes.includes(route) && !BEYOND.some((known) => known.test(route)),
  );
  expect(unknown).toEqual([]);
});

test('no route is served twice', () => {
  expect(mounted.filter((route, index) => mounted.indexOf(route) !== index)).toEqual([]);
});
