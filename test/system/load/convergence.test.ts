/** A change made on one instance is in force there at once, and on every other soon. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { LONG } from '../../support/form.ts'
import { endpointDocument } from '../../support/service.ts'
import { type Instance, needsPostgres, startInstances, until } from '../instances/instances.ts'

const CHANGES = LONG ? 500 : 100
const LANES = 4

test(
  `${CHANGES} changes on two instances are in force at once where they are made and within 2 s on the other`,
  needsPostgres,
  async (test) => {
    const [one, other] = (await startInstances(test, 2)) as [Instance, Instance]
    const delays: number[] = []

    /** Changes one endpoint again and again, on the instances in turn. */
    async function runLane(lane: number): Promise<void> {
      const path = `/lane-${lane}`
      const shows = async (instance: Instance, expected: number | undefined) => {
        const { status, body } = await instance.ask('POST', path, {})
        return expected === undefined ? status === 404 : status === 200 && body.n === expected
      }
      let id: unknown
      for (let n = 0; n < CHANGES / LANES; n += 1) {
        const [here, there] = n % 2 === 0 ? [one, other] : [other, one]
        const removes = n % 10 === 9
        if (removes) {
          assert.equal((await here.ask('DELETE', `/endpoints/${id}`)).status, 200)
        } else if (n % 10 === 0) {
          const document = {
            name: `lane ${lane}`,
            endpoint: { pattern: path },
            constants: { n },
            inputMapping: { 'constants.n': 'n' },
          }
          const answer = await here.ask('POST', '/endpoints', endpointDocument(document))
          assert.equal(answer.status, 201, JSON.stringify(answer.body))
          id = answer.body._id
        } else {
          const answer = await here.ask('PATCH', `/endpoints/${id}`, { constants: { n } })
          assert.equal(answer.status, 200, JSON.stringify(answer.body))
        }
        const expected = removes ? undefined : n
        const elsewhere = until(`change ${n} of lane ${lane} on the other instance`, 60_000, () =>
          shows(there, expected),
        )
        assert.ok(await shows(here, expected), `change ${n} of lane ${lane} where it was made`)
        delays.push(await elsewhere)
      }
    }

    await Promise.all(Array.from({ length: LANES }, (_, lane) => runLane(lane)))
    const sorted = delays.toSorted((a, b) => a - b)
    const at = (share: number) => sorted[Math.ceil(sorted.length * share) - 1] ?? Number.NaN
    test.diagnostic(
      `on the other instance after: p50 ${at(0.5).toFixed(1)} ms, p99 ${at(0.99).toFixed(1)} ms, most ${at(1).toFixed(1)} ms (${sorted.length} changes)`,
    )
    assert.equal(sorted.length, CHANGES)
    assert.ok(at(0.99) < 2_000)

    for (const instance of [one, other]) {
      await until('the version of the last change', 60_000, async () => {
        const { body } = await instance.ready()
        return body.configurationVersion === CHANGES + 1
      })
    }
  },
)
