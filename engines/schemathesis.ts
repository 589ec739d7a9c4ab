/** Installs schemathesis (Python), which fuzzes the API according to its OpenAPI document, for tests. */
import type { Report } from './cache.ts';
import { findPython } from './python.ts';

/** The path of schemathesis's program `st`. */
export const findSchemathesis = (report: Report): Promise<string> =>
  findPython(
    { name: 'schemathesis', version: '4.32.5', program: 'st', check: ['--version'], purpose: 'Fuzzing the API' },
    report,
  );
