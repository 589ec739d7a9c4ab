import { launchable, type Slice } from './slice.ts';
import { createDocumentActivities } from '../../activities/knowledge/document.ts';
import { createEmbeddingActivities } from '../../activities/knowledge/embedding.ts';
import { createLiveCopyActivities } from '../../activities/knowledge/livecopy.ts';
import { createMaintenanceActivities } from '../../activities/knowledge/maintenance.ts';
import { createPruningActivities } from '../../activities/crawl/prune.ts';
import { createSourceActivities } from '../../activities/knowledge/source.ts';
import { DocumentModel } from '../../models/knowledge/document.ts';
import { EmbeddingWorkModel } from '../../models/knowledge/embedding.ts';
import { LiveCopyModel } from '../../models/knowledge/livecopy.ts';
import { PageModel } from '../../models/knowledge/page.ts';
import { PruningModel } from '../../models/crawl/prune.ts';
import { RemovalModel } from '../../models/knowledge/removal.ts';

export const knowledge = {
  launchable: [
    launchable(DocumentModel),
    launchable(EmbeddingWorkModel),
    launchable(LiveCopyModel),
    launchable(PageModel),
    launchable(PruningModel),
    launchable(RemovalModel),
  ],
  fleets: {
    documents: {
      // Workflows of sources that an older version started run on this queue, so the source activities must be here,
      // too.
      activities: (deps) => ({ ...createDocumentActivities(deps), ...createSourceActivities(deps) }),
      readerReady: true,
      // Each file is read in a child process of up to 512 MiB. Four such processes (two of them for the fleet
      // `backlog`) and the worker fit into 3 GiB.
      maxActivities: 2,
      maxWorkflowTasks: 10,
    },
    backlog: {
      activities: (deps) => createDocumentActivities(deps, { backlog: true }),
      maxActivities: 2,
    },
    sources: {
      // These activities are short. They must not wait behind files that take half a minute to read, because they
      // remove deleted sources from the index.
      activities: (deps) => ({
        ...createSourceActivities(deps),
        ...createPruningActivities(deps),
        ...createLiveCopyActivities(deps),
      }),
      maxActivities: 10,
      maxWorkflowTasks: 5,
    },
    embedding: {
      activities: (deps) => {
        const { embedDocument } = createDocumentActivities(deps);
        return { ...createEmbeddingActivities(deps), embedDocument };
      },
      // One process computes all embeddings, for up to eight documents and organizations at a time, so that a small
      // import does not wait behind a large one.
      maxActivities: 8,
      maxWorkflowTasks: 5,
    },
    maintenance: {
      activities: createMaintenanceActivities,
      // Merging an index is disk work; a second merge at the same time would only slow down the first.
      maxActivities: 1,
      maxWorkflowTasks: 2,
    },
  },
} as const satisfies Slice;
