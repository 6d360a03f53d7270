/** The form in which a test runs: short in `npm test`, long in `npm run test:rest`, the same for a developer and in CI. */
export const LONG = process.env.TEST_FORM === 'long'
