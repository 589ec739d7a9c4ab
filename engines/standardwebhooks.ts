/** Installs the Python library of Standard Webhooks, with which tests verify outgoing webhooks. */
import type { Report } from './cache.ts';
import { findPython } from './python.ts';

/** The path of a Python that can import `standardwebhooks`. */
export const findStandardWebhooks = (report: Report): Promise<string> =>
  findPython(
    {
      name: 'standardwebhooks',
      version: '1.1.0',
      program: 'python',
      check: ['-c', 'import standardwebhooks'],
      purpose: 'Verifying webhooks',
    },
    report,
  );
