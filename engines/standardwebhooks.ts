/** Obtains the Python library of Standard Webhooks, by which tests verify what is sent to receivers. */
import type { Report } from './cache.ts';
import { findPython } from './python.ts';

/** The path of a Python that has `standardwebhooks`. */
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
