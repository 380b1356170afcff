import { MetadataDiscovery, type MetadataStorage } from '@mikro-orm/core';

const { discoverSync } = MetadataDiscovery.prototype;
let discovered: MetadataStorage | undefined;

/**
 * All connections of this process know the same entities: they are discovered once, not by each of the hundreds of apps
 * that its test files make. That costs the ORM (7.2.1) some 100 ms each, and it has no option to hand the result on.
 * Connections without entities, as those that migrate, may come first.
 */
MetadataDiscovery.prototype.discoverSync = function () {
  const storage = discovered ?? discoverSync.call(this);
  if ([...storage].length > 0) discovered = storage;
  return storage;
};
