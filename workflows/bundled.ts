/** The entry of the workers' bundle: all workflows, with how they behave when the version of the workers changes. */
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { kindOf } from './base/kinds.ts';
import * as workflows from './index.ts';

export * from './index.ts';

for (const [name, workflow] of Object.entries(workflows))
  setWorkflowOptions(
    // Temporal refuses a versioning behavior from a worker without a version, so for such a worker none is set.
    () =>
      // The version of a worker without a build id has no deployment name.
      workflowInfo().currentDeploymentVersion?.deploymentName
        ? { versioningBehavior: kindOf(name)?.isShort ? 'PINNED' : 'AUTO_UPGRADE' }
        : {},
    workflow as (...args: unknown[]) => Promise<unknown>,
  );
