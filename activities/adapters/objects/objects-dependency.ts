import { causes } from '../../../domain/kernel/data/database-trouble.ts';
import type { ObjectStore } from '../../../domain/kernel/objects/object-store.port.ts';
import type { Dependency } from '../../../domain/kernel/system/outages.ts';
import { isStoreAway } from './s3-trouble-rules.ts';

/** No object has this key, as those of tenants have more segments. */
const NO_OBJECT = 'outage-check';

/** An object store over the network: a folder of this machine is never away by itself. */
export const objectsDependency = (store: ObjectStore): Dependency => ({
  name: 'objects',
  title: 'The object store',
  meanwhile: 'files cannot be stored or read, and exports wait',
  isOptional: true,
  check: () => store.sizeOf(NO_OBJECT),
  mayExplain: (error) => causes(error).some(isStoreAway),
});
