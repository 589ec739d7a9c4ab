/** `npm run soak` sets TEST_SOAK, and then the long tests run in place of all others. */
const soak = process.env['TEST_SOAK'] !== undefined;

/** Tests run as native ES modules; types are stripped by Node itself, so line numbers are the source's own. */
export default {
  testEnvironment: 'node',
  testMatch: [soak ? '<rootDir>/test/soak/**/*.test.ts' : '<rootDir>/test/**/*.test.ts'],
  testPathIgnorePatterns: soak ? ['/node_modules/'] : ['/node_modules/', '<rootDir>/test/soak/'],
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '\\.ts$': '<rootDir>/test/kit/transform.mjs' },
  globalSetup: '<rootDir>/test/kit/setup.ts',
  globalTeardown: '<rootDir>/test/kit/teardown.ts',
  // One more than two processors keep busy: much of a test's time is a wait for something that dies or times out.
  maxWorkers: 3,
  // A guard against what hangs, generous enough for a loaded machine; tests wait for states.
  testTimeout: 180_000,
};
