/** The tables of transforms, validation, dry runs and replays hold in isolated processes as they do without. */
process.env.TEST_ISOLATION = 'process'
await import('../pipeline/transform.test.ts')
await import('../pipeline/validate-http.test.ts')
await import('../management/dry-run.test.ts')
await import('../messages/replay.test.ts')
