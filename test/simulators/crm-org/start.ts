import { parseArgs } from 'node:util';
import { untilStopped } from '../control-server.ts';
import { ACTIONS, crmControl } from './control.ts';
import { crmSimulator, USUAL_ORGS } from './simulator.ts';

const { values } = parseArgs({
  options: {
    control: { type: 'string', default: '0' },
    latency: { type: 'string', default: '0' },
    metadata: { type: 'string' },
    suffix: { type: 'string', default: '' },
  },
});

// Orgs of several simulators have the same usernames otherwise.
const named = (name: string) => (values.suffix === '' ? name : `${name}-${values.suffix}`);
const orgs = USUAL_ORGS.map((org) => ({
  ...org,
  name: named(org.name),
  ...(org.parent !== undefined && { parent: named(org.parent) }),
}));
const simulator = await crmSimulator(orgs);
simulator.latencyMs = Number(values.latency);
if (values.metadata !== undefined) for (const org of simulator.orgs()) org.metadata.serveFolder(values.metadata);
// People to be frozen, and to be given rights.
for (const { people, kind, copies } of simulator.orgs()) {
  if (kind !== 'production') continue;
  for (const name of ['ada', 'bob']) people.addUser(`${name}@${named('people')}.example`);
  people.addSet('Deploy_Admin');
  people.addSet('Night_Shift', { isGroup: true });
  copies.addGroup('Testers');
}
const COPY_STEP_MS = 5_000;
const copying = setInterval(() => {
  for (const { copies } of simulator.orgs()) void copies.advance();
}, COPY_STEP_MS);
const control = await crmControl(simulator, Number(values.control));

const lines = simulator
  .orgs()
  .map(
    ({ name, kind, username, authUrl }) => `  ${name.padEnd(13)} ${kind.padEnd(11)} ${username.padEnd(31)} ${authUrl}`,
  );
process.stdout.write(
  [
    'This is a simulator of CRM orgs on this machine: no org is real, and its credentials open nothing else.',
    'A service that uses it needs OUTBOUND_ALLOW=127.0.0.0/8 (the default outside production).',
    '',
    ...lines,
    '',
    `Control: ${control.url}`,
    ...ACTIONS.map((action) => `  ${action}`),
    '',
  ].join('\n'),
);

untilStopped(() => {
  clearInterval(copying);
  control.close();
  void simulator.close();
});
