/**
 * All stages of one message, in one process without HTTP: microseconds of processor time, by workload.
 * `node bin/node.js --max-semi-space-size=16 --no-maglev bench/costs/stages.ts [W1 W2 …]`
 */

import { createIsoTime } from '../../src/core/iso-time.ts'
import { collectInto, type Lint } from '../../src/core/lint.ts'
import { DOORS } from '../../src/core/origin.ts'
import type { Run } from '../../src/core/run.ts'
import { startTrace } from '../../src/core/tracing/trace.ts'
import { checkDocument } from '../../src/document/checks/check-document.ts'
import { compileEndpoint } from '../../src/pipeline/compile.ts'
import type { Handle } from '../../src/pipeline/outcome.ts'
import type { Services } from '../../src/pipeline/services.ts'
import { readSettings } from '../../src/settings/settings.ts'
import { unboundedBytes } from '../../test/support/unbounded-bytes.ts'
import { spreadOf } from '../report/spread.ts'
import { workloadOf } from '../workloads/all.ts'
import type { Workload } from '../workloads/workload.ts'

const MESSAGES = 10_000
const ROUNDS = 7
/** About as many as come with one turn of the event loop under load. */
const AT_ONCE = 8

const reading = readSettings({})
if (!reading.ok) throw new Error(reading.faults.join('\n'))
const { settings } = reading
/** The workloads measured here make no calls and keep no state. */
const noServices = {} as Services

const isoOf = createIsoTime()

const ids = process.argv.slice(2)
for (const id of ids.length > 0 ? ids : ['W1', 'W2', 'W4 in', 'W4 out', 'W5']) {
  const send = compileWorkload(workloadOf(id))
  for (let round = 0; round < 3; round += 1) await run(send)
  const found: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) found.push(await run(send))
  const { median, min, max } = spreadOf(found)
  const [middle, least, most] = [median, min, max].map((value) => value.toFixed(2))
  process.stdout.write(`${id}: ${middle} µs a message (${least} to ${most})\n`)
}

type Send = () => ReturnType<Handle>

function compileWorkload(workload: Workload): Send {
  const { endpoint, lints: structural } = checkDocument(workload.document({ origin: '' }))
  const lints: Lint[] = [...structural]
  const handle = compileEndpoint(endpoint, '0'.repeat(24), noServices, settings, collectInto(lints))
  if (lints.some(({ severity }) => severity === 'error')) throw new Error(JSON.stringify(lints))
  const requestHeaders = { 'content-type': workload.contentType }
  const body = Buffer.from(workload.message)
  return () => {
    const startedAt = Date.now()
    const timestamps = { endpointStart: isoOf(startedAt), lookupRequests: {} }
    return handle({ constants: endpoint.constants, requestHeaders, query: {}, urlParams: {}, timestamps }, runOf(body))
  }
}

function runOf(body: Uint8Array): Run {
  return {
    messageId: 'of the benchmark',
    clock: Date.now,
    startedAt: Date.now(),
    deadlineAt: Date.now() + settings.messageTimeoutMs,
    door: DOORS.http,
    mayWait: false,
    body,
    budget: unboundedBytes(),
    lookupTimes: {},
    responseTimes: {},
    lookups: { highestStatus: undefined, networkError: false },
    trace: startTrace(),
    tables: new Map(),
    isDelivered: false,
    extracted: undefined,
    answerKeeper: undefined,
  }
}

async function run(send: Send): Promise<number> {
  const before = process.cpuUsage()
  for (let sent = 0; sent < MESSAGES; sent += AT_ONCE) {
    for (const { answer } of await Promise.all(Array.from({ length: AT_ONCE }, send))) {
      if (answer.status !== 200) throw new Error(String(answer.body))
    }
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / MESSAGES
}
