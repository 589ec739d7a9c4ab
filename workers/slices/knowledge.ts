/** Documents, the sources that answers come from, and the care of the stores. */
import { launchable, type Slice } from './slice.ts';
import { createDocumentActivities } from '../../activities/knowledge/document.ts';
import { createMaintenanceActivities } from '../../activities/knowledge/maintenance.ts';
import { createPruningActivities } from '../../activities/knowledge/pruning.ts';
import { createSourceActivities } from '../../activities/knowledge/source.ts';
import { DocumentModel } from '../../models/knowledge/document.ts';
import { PageModel } from '../../models/knowledge/page.ts';
import { PruningModel } from '../../models/knowledge/pruning.ts';
import { RemovalModel } from '../../models/knowledge/removal.ts';

export const knowledge = {
  launchable: [launchable(DocumentModel), launchable(PageModel), launchable(PruningModel), launchable(RemovalModel)],
  fleets: {
    documents: {
      // Those of sources for workflows that were begun on this queue before they had one of their own.
      activities: (deps) => ({ ...createDocumentActivities(deps), ...createSourceActivities(deps) }),
      // Each reads in a process of its own of up to 512 MiB; four fit beside the worker into 3 GiB.
      maxActivities: 4,
      maxWorkflowTasks: 10,
    },
    sources: {
      // Short, and not to wait behind files that take half a minute to read: what was taken back has to be out of the index.
      activities: (deps) => ({ ...createSourceActivities(deps), ...createPruningActivities(deps) }),
      maxActivities: 10,
      maxWorkflowTasks: 5,
    },
    maintenance: {
      activities: createMaintenanceActivities,
      // Merging an index is disk work; a second one at once would only slow the first.
      maxActivities: 1,
      maxWorkflowTasks: 2,
    },
  },
} as const satisfies Slice;
