import {
  componentTypes,
  describeTypes,
  forgetUnknownTypes,
  noteFailedTypes,
} from '../../../domain/orgs/org-explorer/component-types.queries.ts';
import { countDue } from '../../../domain/orgs/org-explorer/component-files.queries.ts';
import { forgetType, indexType } from '../../../domain/orgs/org-explorer/index.mutations.ts';
import { indexedComponent, isNoLongerDescribed, planListing } from '../../../domain/orgs/org-explorer/listing-rules.ts';
import {
  addProgress,
  changeOpenSync,
  openSyncs,
  restartListing,
} from '../../../domain/orgs/org-explorer/syncs.queries.ts';
import type { Deps } from '../../deps.ts';
import { withHeartbeat } from '../../heartbeat.ts';
import { listOrg } from './list-org.ts';
import { type Ended, failed, type RefreshJob, type RefreshScope } from './refresh-scope.ts';

export function createListingActivities(
  { orgExplorer }: Pick<Deps, 'orgExplorer'>,
  { txOf, readsOf, callsOf, stateOf, untilChanged }: RefreshScope,
) {
  return {
    /** Brings the index of components up to date with what the org lists. */
    listComponents: (job: RefreshJob): Promise<Ended | { outcome: 'listed'; types: number; due: number }> =>
      withHeartbeat((signal) =>
        untilChanged(async () => {
          const { syncId } = job;
          const calls = callsOf(job, signal);
          const described = await calls.describeMetadata();
          if (!described.isOk) return failed('The types of the org could not be read', described);
          // After the first call, which may have found that the org is another one.
          const state = await stateOf(job);
          if ('outcome' in state) return state;
          const [{ org }, tx] = [state, txOf(job)];
          const sync = (await openSyncs(readsOf(job), job.orgId)).find(({ id }) => id === syncId);
          const { types, unknown, unlisted } = planListing(described.value, sync?.metadataTypes ?? null);
          const all = planListing(described.value, null).types;
          const fail = async (names: readonly string[], error: string) => {
            const failedTypes = names.map((metadataType) => ({ metadataType, error }));
            if (failedTypes.length === 0) return;
            await tx(async (work) => {
              await noteFailedTypes(work, org, failedTypes);
              await addProgress(work, syncId, { failedTypes });
            });
          };
          await tx(async (work) => {
            await restartListing(work, syncId);
            await describeTypes(work, org, types);
            await forgetUnknownTypes(work, org, all);
          });
          await fail(unknown, 'The org has no such type');
          await fail(unlisted, 'The platform does not list this type; workers outside may report it');
          if (state.types === null)
            for (const type of (await componentTypes(readsOf(job), org)).filter(isNoLongerDescribed(all)))
              await tx((work) => forgetType(work, { org, syncId, type }));
          let listed = 0;
          const stopped = await listOrg(calls, types, {
            async onListed(type, components) {
              signal.throwIfAborted();
              const rows = components.map((component) => indexedComponent(component, type, orgExplorer.indexOnly));
              await tx((work) => indexType(work, { org, syncId, type }, rows));
              listed++;
            },
            onFailed: ({ metadataType }, { message }) => fail([metadataType], message),
          });
          if (stopped) return failed('The components of the org could not be listed', stopped);
          const due = await countDue(readsOf(job), org, state.types);
          const step = `Retrieving ${due} components`;
          await tx((work) => changeOpenSync(work, syncId, { typesCount: listed, step, message: null }));
          return { outcome: 'listed', types: listed, due };
        }),
      ),
  };
}
