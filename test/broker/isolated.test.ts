/** What becomes of records that fail, where expressions and schemas run in isolated processes: the same. */
process.env.TEST_ISOLATION = 'process'
await import('./dead-letters.test.ts')
