import type { LoggedDeployment } from '../../../../domain/delivery/deployments/deployment-log-cache.ts';
import { packageArrivals } from '../../../../domain/delivery/deployments/package-arrivals.ts';
import { randomNumbers } from '../../../support/repository.ts';

const placeOf = (installed: readonly LoggedDeployment[]) => ({ installed });

test('what came to a place is the same whether its deployments came one after another, were undone, or are all new', () => {
  for (let seed = 1; seed <= (process.env.DEEP_TESTS ? 200 : 60); seed++) {
    const random = randomNumbers(seed);
    const deployment = (number: number): LoggedDeployment => ({
      id: String(number),
      releaseName: `r${number}`,
      at: number,
      receivedAt: number,
      status: 'Success',
      rolledBackAt: null,
      contentDigest: null,
      commitSha: null,
      packages: random(4) === 0 ? {} : { app: `1.${random(6)}.0` },
      installsAll: true,
    });
    let installed: LoggedDeployment[] = [];
    for (let step = 0; step < 20; step++) {
      if (random(4) === 0) installed = installed.toSpliced(random(installed.length + 1), 1);
      else installed = [...installed, ...Array.from({ length: 1 + random(20) }, () => deployment(random(10_000)))];
      const fresh = packageArrivals(placeOf(installed.map((each) => ({ ...each }))), 'app');
      expect([seed, step, packageArrivals(placeOf(installed), 'app')]).toEqual([seed, step, fresh]);
    }
  }
});

test('versions that came before a further deployment are the same objects after it', () => {
  const first: LoggedDeployment = {
    id: '1',
    releaseName: 'r1',
    at: 1,
    receivedAt: 1,
    status: 'Success',
    rolledBackAt: null,
    contentDigest: null,
    commitSha: null,
    packages: { app: '1.0.0' },
    installsAll: true,
  };
  const [before] = packageArrivals(placeOf([first]), 'app').arrivals;
  const after = packageArrivals(placeOf([first, { ...first, id: '2', packages: { app: '1.1.0' } }]), 'app').arrivals;
  expect(after.map(({ version }) => version)).toEqual(['1.0.0', '1.1.0']);
  expect(after[0]).toBe(before);
});
