/** The tables of transforms, validation and dry runs hold in isolated processes as they do without. */
process.env.TEST_ISOLATION = 'process'
await import('../pipeline/transform.test.ts')
await import('../pipeline/validate-http.test.ts')
