/** Far more than the service can do: some seconds of `overload.ts`, which judges no time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { overload } from './overload.ts'
import { boundByProcessor, boundByUpstream } from './overload-kinds.ts'

for (const make of [boundByUpstream, () => boundByProcessor(3_000)]) {
  test(`some are answered and the others refused, and nothing else happens: ${make.name || 'boundByProcessor'}`, async () => {
    const report = await overload({ kind: await make(), seconds: 4, times: 5, besideSeconds: 1 })
    const reported = JSON.stringify(report)
    assert.deepEqual(report.others, {}, reported)
    assert.ok(report.admittedPerSecond > 0 && report.refused > 0, reported)
    assert.ok(report.mostResidentMb < 512, reported)
  })
}
