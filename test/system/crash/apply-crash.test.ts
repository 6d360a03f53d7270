/** `crosswalk apply` at a service that is killed: it has all of the change afterwards, or nothing of it. */
import assert from 'node:assert/strict'
import { it, type TestContext } from 'node:test'
import type { JsonObject } from '../../../src/core/json.ts'
import { projectRig } from '../../support/cli/deployment/deployment-rig.ts'
import { freshFolder, spawnService } from '../../support/spawned-service.ts'

const rounds = 12
const DOCUMENTS = 40

const documents = (round: number): Readonly<Record<string, JsonObject>> =>
  Object.fromEntries(
    Array.from({ length: DOCUMENTS }, (_, at) => [
      `e${at}`,
      {
        name: `E${at}`,
        endpoint: { pattern: `/e/${at}` },
        transformation: { input: 'JSON', output: 'JSON' },
        constants: { round, payload: 'p'.repeat(500) },
      },
    ]),
  )

/** How long the first change takes where nothing is killed. */
async function usualMs(test: TestContext): Promise<number> {
  const service = await spawnService(freshFolder(test))
  const { run } = projectRig(test, service.url, documents(0))
  const startedAt = performance.now()
  assert.equal((await run('apply', { yes: true })).code, 0)
  const ms = performance.now() - startedAt
  service.child.kill('SIGKILL')
  await service.ended
  return ms
}

it(`a service that is killed while a project is applied has all of it or nothing, ${rounds} times`, async (test) => {
  const folder = freshFolder(test)
  const ms = await usualMs(test)
  let before = 0
  let made = 0
  for (let round = 1; round <= rounds; round++) {
    const service = await spawnService(folder)
    const { run } = projectRig(test, service.url, documents(round))
    // From before the first byte arrives to after the answer.
    const killAfterMs = (((round * 37) % 100) / 100) * 1.5 * ms
    const timer = setTimeout(() => service.child.kill('SIGKILL'), killAfterMs)
    const { code } = await run('apply', { yes: true })
    clearTimeout(timer)
    service.child.kill('SIGKILL')
    await service.ended
    const again = await spawnService(folder)
    const stored = (await (await fetch(`${again.url}/endpoints`)).json()) as readonly JsonObject[]
    const found = new Set(stored.map(({ constants }) => Number((constants as JsonObject).round)))
    again.child.kill('SIGKILL')
    await again.ended
    const now = found.size === 0 ? 0 : Math.max(...found)
    assert.ok(found.size <= 1 && (found.size === 0 || stored.length === DOCUMENTS), `round ${round}: ${[...found]}`)
    assert.ok(now === round || now === before, `round ${round} has the documents of ${now}`)
    if (code === 0) assert.equal(now, round, 'what was answered is there')
    if (now === round) made++
    before = now
  }
  assert.ok(made > 0 && made < rounds, `${made} of ${rounds} changes were made`)
})
