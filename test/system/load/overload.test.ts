/** Far more than the service can do: some seconds of `overload.ts`, which judges no time. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { boundByProcessor, boundByUpstream, overload } from './overload.ts'

// So few steps that the expression stays in the thread of messages on a slow machine too.
for (const make of [boundByUpstream, () => boundByProcessor(600)]) {
  test(`some are answered and the others refused, and nothing else happens: ${make.name || 'boundByProcessor'}`, async () => {
    const report = await overload({ kind: await make(), seconds: 4, times: 5, besideSeconds: 1 })
    const reported = JSON.stringify(report)
    // A machine that leaves the service no processor time makes messages and expressions late; a few say so.
    const { DEADLINE_EXCEEDED: late = 0, TRANSFORM_FAILED: slow = 0, ...others } = report.others
    assert.deepEqual(others, {}, reported)
    assert.ok(late + slow <= report.refused / 10, reported)
    assert.ok(report.admittedPerSecond > 0 && report.refused > 0, reported)
    assert.ok(report.mostResidentMb < 512, reported)
  })
}
