/** Messages whose records are not made yet hold their bodies: they are bounded too, and never hold up the thread. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { Failure } from '../../../../src/core/failure.ts'
import { HTTP } from '../../../../src/core/origin.ts'
import type { CompletedMessage } from '../../../../src/inbound/completed-message.ts'
import { createActiveCaptures } from '../../../../src/records/message-log/captures.ts'
import { createRecorder, type Recorder } from '../../../../src/records/message-log/recorder.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/open-sqlite-store.ts'
import { messageId } from '../../../support/contracts/message-records.ts'
import { silent } from '../../../support/silent.ts'
import { until } from '../../../support/until.ts'

const settings = {
  messageLog: 'all',
  messageLogBodyLimitBytes: 1_000,
  parserLimitBytes: 1_000,
  redactHeaders: [],
  redactPaths: [],
} as const
const MIB = 1024 * 1024

async function withRecorder(work: (recorder: Recorder) => Promise<void> | void): Promise<void> {
  const store = await openSqliteStore({ path: ':memory:', logger: silent })
  const limits = { records: 1_000, bytes: 4 * MIB }
  const captures = createActiveCaptures({ store: store.captures, clock: Date.now, logger: silent })
  const recorder = createRecorder({ store: store.messages, settings, captures, logger: silent, limits })
  try {
    await work(recorder)
    assert.equal(await recorder.close(10_000), 0)
  } finally {
    await store.close()
  }
}

const finishedAt = (ms: number, changes: Partial<CompletedMessage> = {}): CompletedMessage => ({
  answer: { status: 500, headers: {}, body: '', refused: true },
  failure: undefined,
  messageId: messageId(ms),
  source: 'http',
  outcome: 'failed',
  code: 'INTERNAL',
  compiled: undefined,
  incoming: undefined,
  startedAt: 0,
  ms: 1,
  trace: undefined,
  ...changes,
})

const withBody = (bytes: number): Pick<CompletedMessage, 'incoming'> => ({
  incoming: { origin: HTTP, requestHeaders: {}, query: {}, urlParams: {}, body: new Uint8Array(bytes) },
})

/** Not `caughtUp`, which gives up after a second: a loaded machine takes longer. */
const untilWritten = (recorder: Recorder, count: number) =>
  until(
    () => recorder.counts().written,
    (written) => written >= count,
  )

function heldBytes(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  collect()
  // A collection frees array buffers on a thread of its own; the next collection starts by waiting for that thread.
  collect()
  return process.memoryUsage().arrayBuffers
}

test('the bodies of failures that end at once take a bounded room, and each has its record', () =>
  withRecorder(async (recorder) => {
    const before = heldBytes()
    for (let ms = 0; ms < 60; ms += 1) recorder.record(finishedAt(ms, withBody(MIB)))
    const held = heldBytes() - before
    assert.ok(held < 12 * MIB, `${held / MIB} MiB`)
    await untilWritten(recorder, 60)
    assert.equal(recorder.counts().dropped.failed, 0)
  }))

test('messages that ended done are given up where the bodies that wait are too many', () =>
  withRecorder((recorder) => {
    for (let ms = 0; ms < 20; ms += 1) recorder.record(finishedAt(ms, { ...withBody(MIB), outcome: 'done', code: '' }))
    assert.ok(recorder.counts().dropped.done >= 15, `${recorder.counts().dropped.done}`)
  }))

test('a message with a body larger than the bound has its record where nothing else waits', () =>
  withRecorder(async (recorder) => {
    recorder.record(finishedAt(0, { ...withBody(5 * MIB), outcome: 'done', code: '' }))
    await untilWritten(recorder, 1)
    assert.equal(recorder.counts().dropped.done, 0)
  }))

test('lets others go first after each record that took long', () =>
  withRecorder(async (recorder) => {
    let made = 0
    for (let ms = 0; ms < 10; ms += 1) {
      const slow = finishedAt(ms)
      Object.defineProperty(slow, 'ms', {
        get: () => {
          made += 1
          const endAt = performance.now() + 6
          while (performance.now() < endAt) {}
          return 1
        },
      })
      recorder.record(slow)
    }
    await setImmediate()
    assert.equal(made, 1)
  }))

test('the sender that waits for the record of a message gets its answer, unless the message failed', () =>
  withRecorder(async (recorder) => {
    const heard: [name: string, isLost: boolean][] = []
    const record = (ms: number, failure?: Failure): void => {
      const outcome = failure === undefined ? 'done' : 'failed'
      const onRecorded = (isLost: boolean) => void heard.push([outcome, isLost])
      const incoming = { origin: HTTP, requestHeaders: {}, query: {}, urlParams: {}, body: undefined, onRecorded }
      recorder.record(finishedAt(ms, { incoming, outcome, failure, code: failure?.code ?? '' }))
    }
    record(0)
    record(1, new Failure('INTERNAL', 'It failed.'))
    await untilWritten(recorder, 2)
    assert.deepEqual(heard, [['done', false]])
  }))
