/** Tests run as native ES modules; types are stripped by Node itself, so line numbers are the source's own. */
export default {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/kit/transform.mjs' },
  globalSetup: '<rootDir>/test/kit/setup.ts',
  globalTeardown: '<rootDir>/test/kit/teardown.ts',
  maxWorkers: 2,
  // A guard against what hangs, generous enough for a loaded machine; tests wait for states.
  testTimeout: 180_000,
};
