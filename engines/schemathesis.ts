/** Obtains schemathesis (Python), which fuzzes the API from its OpenAPI document. Tests only. */
import type { Report } from './cache.ts';
import { findPython } from './python.ts';

/** The path of `st`. */
export const findSchemathesis = (report: Report): Promise<string> =>
  findPython(
    { name: 'schemathesis', version: '4.32.5', program: 'st', check: ['--version'], purpose: 'Fuzzing the API' },
    report,
  );
