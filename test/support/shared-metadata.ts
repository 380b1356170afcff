import { MetadataDiscovery, MetadataStorage } from '@mikro-orm/core';

const { discoverSync } = MetadataDiscovery.prototype;
const { decorate } = MetadataStorage.prototype;
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

/** Defining the same members on the classes of entities anew would have V8 forget what it knows of the code that uses them. */
const decorated = new WeakSet<MetadataStorage>();
MetadataStorage.prototype.decorate = function (em) {
  if (decorated.has(this)) return;
  decorated.add(this);
  decorate.call(this, em);
};
