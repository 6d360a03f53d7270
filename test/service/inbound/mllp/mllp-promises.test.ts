/** What an acknowledgement promises: an intake and a message log that do as a test says. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { Failure } from '../../../../src/core/failure.ts'
import type { CompiledEndpoint } from '../../../../src/endpoints/compiled-endpoint.ts'
import type { CompletedMessage } from '../../../../src/inbound/completed-message.ts'
import type { Incoming } from '../../../../src/inbound/incoming-message.ts'
import { IncompleteBodies } from '../../../../src/inbound/incomplete-bodies.ts'
import type { Intake } from '../../../../src/inbound/intake.ts'
import { MllpPorts } from '../../../../src/inbound/mllp/mllp-ports.ts'
import { admission, codeOf, connectSender, frame } from '../../../support/inbound/mllp/sender.ts'
import { readTestSettings } from '../../../support/service.ts'
import { freePort } from '../../../support/services/free-ports.ts'
import { silent } from '../../../support/silent.ts'

const MIB = 1024 * 1024

/** How the message ends, and what becomes of its record. */
let end: (incoming: Incoming) => Failure | undefined
let ports: MllpPorts
let port: number

const completed = (failure: Failure | undefined) =>
  ({
    failure,
    messageId: '01a2212600000000998023cc',
    answer: { status: 200, headers: {}, body: '' },
  }) as CompletedMessage

const openPorts = (settings: Readonly<Record<string, string>> = {}): MllpPorts => {
  const compiled = {
    endpoint: { mllp: { port }, transformation: { output: 'JSON' }, requests: { lookup: [], response: [] } },
  } as unknown as CompiledEndpoint
  const intake = {
    accept: (_compiled: CompiledEndpoint, incoming: Incoming) => {
      const ended = completed(end(incoming))
      incoming.answer?.(ended, ended.messageId)
      return ended
    },
    refuse: (_compiled: CompiledEndpoint | undefined, failure: Failure) => completed(failure),
  } as unknown as Intake
  return new MllpPorts({
    registry: { all: () => [compiled], watch: () => undefined },
    intake,
    incompleteBodies: new IncompleteBodies({ limitBytes: MIB, roomBytes: 2 * MIB }),
    settings: readTestSettings({ MESSAGE_TIMEOUT_MS: '1000', PARSER_LIMIT: '1mb', ...settings }),
    newId: () => '01a2212600010000998023cc',
    logger: silent,
  })
}

beforeEach(async () => {
  port = await freePort()
  ports = openPorts()
})
afterEach(() => ports.stop())

const cases: readonly (readonly [what: string, end: typeof end, code: string])[] = [
  [
    'is acknowledged when its record is stored',
    ({ onRecorded }) => {
      setTimeout(() => onRecorded?.(false), 20)
      return undefined
    },
    'AA 1',
  ],
  [
    'may be sent again if its record was given up',
    ({ onRecorded }) => {
      onRecorded?.(true)
      return undefined
    },
    'AE 1',
  ],
  ['may be sent again if nothing is known of its record in time', () => undefined, 'AE 1'],
  ['may be sent again after overload', () => new Failure('OVERLOADED', 'Too many messages at once.'), 'AE 1'],
  ['may be sent again after a stop', () => new Failure('SHUTTING_DOWN', 'The service is stopping.'), 'AE 1'],
  ['is not to be sent again if it is invalid', () => new Failure('VALIDATION_FAILED', 'Validation failed'), 'AR 1'],
]
for (const [what, how, code] of cases) {
  test(`a message ${what}`, async () => {
    end = how
    const sender = await connectSender(port)
    assert.equal(codeOf(await sender.ask(admission('1'))), code)
    sender.socket.destroy()
  })
}

test('incomplete frames take a bounded room: the one that stalled longest goes', async () => {
  end = ({ onRecorded }) => {
    onRecorded?.(false)
    return undefined
  }
  const part = frame(`${admission('1')}${'x'.repeat(700_000)}`)
  const first = await connectSender(port)
  first.socket.write(part.subarray(0, -10))
  const others = []
  for (let index = 0; index < 3; index += 1) {
    const sender = await connectSender(port)
    sender.socket.write(part.subarray(0, -10))
    others.push(sender)
  }
  await first.closed
  const last = others.at(-1)
  last?.socket.write(part.subarray(-10))
  await last?.answered(1)
  assert.deepEqual(last?.codes, ['AA 1'])
  for (const { socket } of others) socket.destroy()
})

test('a port of the service itself is not opened', async () => {
  await ports.stop()
  for (const setting of ['SERVER_PORT', 'ADMIN_PORT']) {
    ports = openPorts({ [setting]: String(port) })
    const [status] = ports.status()
    assert.equal(status?.state, 'failed')
    assert.match(status?.error ?? '', /^The service itself listens on port \d+; change "mllp\.port"/)
  }
  const socket = connect(port, '127.0.0.1')
  await assert.rejects(once(socket, 'connect'), { code: 'ECONNREFUSED' })
})
