/** The entry of the workers' bundle: all workflows, with how they behave when the version of the workers changes. */
import { setWorkflowOptions, workflowInfo } from '@temporalio/workflow';
import { kindOf } from './base/kinds.ts';
import * as workflows from './index.ts';

export * from './index.ts';

for (const [name, workflow] of Object.entries(workflows))
  setWorkflowOptions(
    // Temporal refuses a behavior from workers without a version.
    () =>
      // A worker without a build id has a version without a deployment.
      workflowInfo().currentDeploymentVersion?.deploymentName
        ? { versioningBehavior: kindOf(name)?.isShort ? 'PINNED' : 'AUTO_UPGRADE' }
        : {},
    workflow as (...args: unknown[]) => Promise<unknown>,
  );
