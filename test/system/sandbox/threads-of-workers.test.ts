/** With WORKERS, each worker has threads of its own for what takes long. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { endpointDocument } from '../../support/service.ts'
import { startCrew, until } from '../app/workers/crew.ts'

test('every worker compiles and runs what takes long on its own threads, and the metrics count all of them', async (t) => {
  const crew = await startCrew(t, { env: { EXPRESSION_TIMEOUT_MS: '30000', MESSAGE_LOG: 'off' } })
  await crew.register(endpointDocument({ name: 'any', endpoint: { pattern: '/any' } }))
  const callers = await crew.connectToEach('/any')
  const patternProperties = Object.fromEntries(Array.from({ length: 100 }, (_, at) => [`^p${at}(x{9}){99}$`, {}]))
  await crew.register(
    endpointDocument({
      name: 'slow',
      endpoint: { pattern: '/slow' },
      inputValidation: { patternProperties },
      inputTransforms: { x: '($f := function($n){ $n = 0 ? "done" : $f($n - 1) }; $f(requestBody.steps))' },
      inputMapping: { 'transforms.x': 'x' },
    }),
  )
  const answers = await Promise.all(callers.map(({ call }) => call('POST', '/slow', { steps: 20_000 })))
  assert.deepEqual(
    answers.map(({ status, body }) => [status, body]),
    callers.map(() => [200, { x: 'done' }]),
  )
  assert.equal(new Set(answers.map(({ worker }) => worker)).size, 2)
  const processes = async () => {
    const metrics = await (await fetch(`${crew.adminUrl}/metrics`)).text()
    return Number(/^crosswalk_isolation_processes\{lane="thread"\} (\d+)$/m.exec(metrics)?.[1])
  }
  await until('both workers have threads', async () => (await processes()) >= 2)
  for (const caller of callers) caller.end()
})
