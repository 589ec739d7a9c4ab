/** `npm run soak` sets TEST_SOAK. With it, only the long tests run; without it, all others. */
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
  // Three workers keep two processors busy, because tests spend much of their time waiting for something to die or time
  // out.
  maxWorkers: 3,
  // Ends tests that hang. The limit is long, because a loaded machine is slow. It delays no passing test: a test goes
  // on as soon as it sees the state that it waits for.
  testTimeout: 180_000,
};
