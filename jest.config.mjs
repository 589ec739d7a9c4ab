/** Tests run as native ES modules; types are stripped by Node itself, so line numbers are the source's own. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/transform.mjs' },
  globalSetup: '<rootDir>/test/setup.ts',
  globalTeardown: '<rootDir>/test/teardown.ts',
  maxWorkers: 2,
  // A guard against what hangs, generous enough for a loaded machine; tests wait for states.
  testTimeout: 180_000,
};
