/** Messages over MLLP: which endpoint takes them, what their senders are answered, and what the message log has of them. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { setTimeout } from 'node:timers/promises'
import type { JsonObject } from '../../../../src/core/json.ts'
import { admission, codeOf, connectSender, frame, type Sender } from '../../../support/inbound/mllp/sender.ts'
import {
  type Answering,
  json,
  type Service,
  startService,
  startUpstream,
  type Upstream,
} from '../../../support/service.ts'
import { freePort } from '../../../support/services/free-ports.ts'
import { until } from '../../../support/until.ts'

let service: Service
let upstream: Upstream
let answer: Answering = () => ({})
let port: number
before(async () => {
  upstream = await startUpstream((request, response) => answer(request, response))
  service = await startService({
    PARSER_LIMIT: '20kb',
    SERVER_HEADERS_TIMEOUT_MS: '500',
    SERVER_REQUEST_TIMEOUT_MS: '500',
  })
  port = await freePort()
  await service.register(hl7({ endpoint: { pattern: '/a01' }, mllp: { port, types: ['ADT^A01'] } }))
  await service.register(
    hl7({
      endpoint: { pattern: '/oru' },
      mllp: { port, types: ['ORU', 'ADT^A08'] },
      requests: { response: { id: 'to', config: { method: 'POST', url: `${upstream.url}/orders` } } },
    }),
  )
})
after(async () => {
  await service.stop()
  await upstream.stop()
})

const hl7 = (fields: JsonObject): JsonObject => ({
  transformation: { input: 'HL7V2', output: 'JSON' },
  inputMapping: { 'requestBody.PID[0].3[0].1': 'patient' },
  ...fields,
})

const connected = async (work: (sender: Sender) => Promise<void>, to = port): Promise<void> => {
  const sender = await connectSender(to)
  try {
    await work(sender)
  } finally {
    sender.socket.destroy()
  }
}

/** The messages of the log, newest first. */
const messages = async (query: string): Promise<readonly JsonObject[]> => {
  const reply = await fetch(`${service.adminUrl}/messages?${query}`)
  return ((await reply.json()) as { messages: readonly JsonObject[] }).messages
}

const mllpPorts = async (): Promise<readonly JsonObject[]> => {
  const health = (await (await fetch(`${service.adminUrl}/health/ready`)).json()) as JsonObject
  return health.mllpPorts as readonly JsonObject[]
}

describe('a message', () => {
  test('is acknowledged with its control id once it is in the message log', () =>
    connected(async (sender) => {
      const acknowledged = await sender.ask(admission('one'))
      assert.match(
        acknowledged,
        /^MSH\|\^~\\&\|HIS\|SOUTH\|LAB\|NORTH\|[\d.+]+\|\|ACK\^A01\^ACK\|[0-9a-f]{20}\|P\|2\.5\rMSA\|AA\|one\r$/,
      )
      const [newest] = await messages('source=mllp&limit=1')
      assert.equal(newest?.outcome, 'done')
    }))

  test('goes to the endpoint of its type, of its code, or to none', () =>
    connected(async (sender) => {
      const paths: string[] = []
      answer = ({ url, body }) => {
        paths.push(`${url} ${body}`)
        return {}
      }
      await sender.ask(admission('1', { type: 'ORU^R01^ORU_R01' }))
      await sender.ask(admission('2', { type: 'ADT^A08' }))
      const refused = await sender.ask(admission('3', { type: 'ADT^A04' }))
      assert.deepEqual(paths, ['/orders {"patient":"1"}', '/orders {"patient":"2"}'])
      assert.deepEqual(sender.codes, ['AA 1', 'AA 2', 'AR 3'])
      assert.match(
        refused,
        /ERR\|\|\|200\^Unsupported message type\^HL70357\|E\|ROUTE_UNKNOWN\|\|\|No endpoint takes ADT\\S\\A04 on the MLLP port/,
      )
      const [newest] = await messages('source=mllp&limit=1')
      assert.deepEqual([newest?.outcome, newest?.code, newest?.endpoint], ['refused', 'ROUTE_UNKNOWN', undefined])
    }))

  test('that may succeed later is answered with AE, and one that cannot with AR', () =>
    connected(async (sender) => {
      answer = (_request, response) => {
        response.statusCode = 503
        return {}
      }
      assert.equal(codeOf(await sender.ask(admission('1', { type: 'ORU^R01' }))), 'AE 1')
      answer = (_request, response) => {
        response.statusCode = 422
        return {}
      }
      const rejected = await sender.ask(admission('2', { type: 'ORU^R01' }))
      assert.equal(codeOf(rejected), 'AR 2')
      const newest = await until(
        async () => (await messages('source=mllp&limit=1'))[0],
        (one) => String(one?.id).endsWith(/\|ACK\^R01\^ACK\|([0-9a-f]{20})\|/.exec(rejected)?.[1] ?? 'none'),
      )
      const recorded = await fetch(`${service.adminUrl}/messages/${String(newest?.id)}/body/answer`)
      assert.equal(await recorded.text(), rejected, 'the record has the answer that was sent')
    }))

  test('that the document ends is answered by the status that it gives, with its sentence', async () => {
    const status = '$number(requestBody.PID[0].`3`[0].`1`)'
    const own = await freePort()
    await service.register(
      hl7({
        endpoint: { pattern: '/ended' },
        mllp: { port: own, types: ['ADT^A01'] },
        inputTransforms: { t: `$fail(${status}, "No patient|here.")` },
      }),
    )
    await connected(async (sender) => {
      assert.match(await sender.ask(admission('422')), /MSA\|AR\|422\|No patient\\F\\here\..*\|E\|REJECTED\|/s)
      assert.equal(codeOf(await sender.ask(admission('429'))), 'AE 429')
      assert.equal(codeOf(await sender.ask(admission('503'))), 'AE 503')
    }, own)
  })

  test('is answered with what the document maps, also after it was sent on', async () => {
    const own = await freePort()
    answer = () => ({ id: 'o-17' })
    const mapping = {
      'constants.msh': 'MSH[0]',
      'constants.code': 'MSA[0].1[0].1',
      'requestBody.MSH[0].10[0].1': 'MSA[0].2[0].1',
      'responses.to.data.id': 'MSA[0].3[0].1',
    }
    await service.register(
      hl7({
        endpoint: { pattern: '/mapped' },
        mllp: { port: own, types: ['ADT^A01'] },
        constants: { code: 'AA', msh: { 9: [{ 1: 'ACK' }], 10: [{ 1: 'm1' }], 12: [{ 1: '2.5' }] } },
        requests: { response: { id: 'to', config: { method: 'POST', url: `${upstream.url}/orders` } } },
        answer: { mapping, type: 'HL7V2' },
      }),
    )
    await connected(async (sender) => assert.match(await sender.ask(admission('7')), /\rMSA\|AA\|7\|o-17\r/), own)
  })

  test('is answered by the mode that its header asks for', () =>
    connected(async (sender) => {
      sender.socket.write(frame(admission('1', { rest: 'P|2.5|||AL|AL' })))
      await sender.answered(2)
      sender.socket.write(frame(admission('2', { rest: 'P|2.5|||NE|NE' })))
      await sender.ask(admission('3', { rest: 'P|2.5|||AL|NE' }))
      assert.deepEqual(sender.codes, ['CA 1', 'AA 1', 'CA 3'])
    }))

  test('beyond PARSER_LIMIT is refused, and the next one is taken', () =>
    connected(async (sender) => {
      assert.equal(codeOf(await sender.ask(`${admission('1')}${'NTE|1||long\r'.repeat(5_000)}`)), 'AR 1')
      assert.equal(codeOf(await sender.ask(admission('2'))), 'AA 2')
    }))

  test('without a header is refused', () =>
    connected(async (sender) => {
      assert.match(
        await sender.ask('<ClinicalDocument/>'),
        /\rMSA\|AR\|\|The frame does not start with the segment MSH/,
      )
    }))

  test('of HL7 v2 that the endpoint makes is the answer', async () => {
    const own = await freePort()
    await service.register({
      name: 'own answers',
      endpoint: {},
      mllp: { port: own },
      transformation: { input: 'HL7V2', output: 'HL7V2' },
      constants: { app: 'OWN', accepted: 'AA', type: 'ACK' },
      inputMapping: {
        'constants.app': 'MSH[0].3[0].1',
        'constants.type': 'MSH[0].9[0].1',
        'constants.accepted': 'MSA[0].1[0].1',
        'requestBody.MSH[0].10[0].1': 'MSA[0].2[0].1',
      },
    })
    await connected(async (sender) => {
      assert.match(await sender.ask(admission('7')), /^MSH\|\^~\\&\|OWN\|.*\rMSA\|AA\|7\r$/)
    }, own)
    const list = await fetch(`${service.adminUrl}/endpoints?view=summary&q=own%20answers`)
    const [row] = ((await list.json()) as { endpoints: readonly JsonObject[] }).endpoints
    assert.deepEqual([row?.mllpPort, row?.pattern], [own, undefined])
  })

  test('is acknowledged if the endpoint makes a text that looks like HL7 v2', async () => {
    const own = await freePort()
    await service.register({
      endpoint: {},
      mllp: { port: own },
      transformation: { input: 'HL7V2', output: 'TEXT' },
      constants: { text: 'MSH|^~\\&|OWN\r' },
      inputMapping: { 'constants.text': 'text' },
    })
    await connected(async (sender) => assert.equal(codeOf(await sender.ask(admission('1'))), 'AA 1'), own)
  })

  test('is replayed and tried like any other', () =>
    connected(async (sender) => {
      const { _id } = await service.register(
        hl7({ endpoint: { pattern: '/kept' }, mllp: { port, types: ['ADT^A40'] }, messageLog: 'all' }),
      )
      await sender.ask(admission('9', { type: 'ADT^A40' }))
      const [{ id }] = (await messages(`endpoint=${_id}&limit=1`)) as [JsonObject]
      const replay = await fetch(`${service.adminUrl}/messages/${id}/replay`, json('POST', {}))
      const replayed = (await replay.json()) as JsonObject
      assert.equal(replay.status, 200, JSON.stringify(replayed))
      const record = (await (await fetch(`${service.adminUrl}/messages/${id}`)).json()) as JsonObject
      assert.match(JSON.stringify(record), /"source":"mllp"/)
      const incoming = await (await fetch(`${service.adminUrl}/messages/${id}/body/request`)).text()
      assert.match(incoming, new RegExp(`"mllp-port":"${port}"`))
      assert.match(incoming, /"mllp-remote-address":"127\.0\.0\.1"/)
    }))
})

describe('a connection', () => {
  test('may cut frames at every byte', async () => {
    const bytes = Buffer.concat([frame(admission('1')), frame(admission('2'))])
    await connected(async (sender) => {
      for (const byte of bytes) {
        sender.socket.write(Buffer.of(byte))
        await new Promise(setImmediate)
      }
      await sender.answered(2)
      assert.deepEqual(sender.codes, ['AA 1', 'AA 2'])
    })
  })

  test('may send many messages before it reads, and is answered in their order', () =>
    connected(async (sender) => {
      const ids = Array.from({ length: 200 }, (_, index) => String(index))
      sender.socket.write(Buffer.concat(ids.map((id) => frame(admission(id)))))
      await sender.answered(ids.length)
      assert.deepEqual(
        sender.codes,
        ids.map((id) => `AA ${id}`),
      )
    }))

  test('that ends its side after a message is still answered', () =>
    connected(async (sender) => {
      sender.socket.end(frame(admission('1')))
      await sender.closed
      assert.deepEqual(sender.codes, ['AA 1'])
    }))

  test('that is gone has no further message processed', async () => {
    const arrived = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    let calls = 0
    answer = async () => {
      calls += 1
      arrived.resolve()
      await released.promise
      return {}
    }
    await connected(async (sender) => {
      const ids = Array.from({ length: 100 }, (_, index) => String(index))
      sender.socket.write(Buffer.concat(ids.map((id) => frame(admission(id, { type: 'ORU^R01' })))))
      await arrived.promise
      sender.socket.resetAndDestroy()
    })
    released.resolve()
    await connected(async (other) => {
      for (let id = 0; id < 50; id += 1) await other.ask(admission(String(id)))
    })
    // The system tells of the reset when an answer is written.
    assert.ok(calls < 10, `${calls} messages`)
    answer = () => ({})
  })

  test('on which no message arrives is closed', () =>
    connected(async (sender) => {
      sender.socket.write('\r\n')
      await sender.closed
      assert.deepEqual(sender.answers, [])
    }))

  test('that does not end a frame is closed', () =>
    connected(async (sender) => {
      sender.socket.write(frame(admission('1')).subarray(0, -10))
      await sender.closed
      assert.deepEqual(sender.answers, [])
    }))

  test('that does not speak MLLP is closed, and frames behind its first bytes are not taken', () =>
    connected(async (sender) => {
      sender.socket.write(Buffer.concat([Buffer.from('POST / HTTP/1.1\r\nhost: here\r\n\r\n'), frame(admission('1'))]))
      await sender.closed
      assert.deepEqual(sender.answers, [])
      assert.ok(service.log.some(({ message }) => message.includes('does not speak MLLP')))
    }))

  test('with 0x1C in a message is answered with AR, and closed', () =>
    connected(async (sender) => {
      const broken = frame(admission('2').replace('||2', '||4\x1c2'))
      sender.socket.write(Buffer.concat([frame(admission('1')), broken, frame(admission('3'))]))
      await sender.closed
      assert.deepEqual(sender.codes, ['AA 1', 'AR 2'])
      assert.match(sender.answers[1] as string, /\|The message contains the byte 0x1C/)
    }))

  test('with bytes between its messages is closed, and the messages before them are answered', () =>
    connected(async (sender) => {
      sender.socket.write(Buffer.concat([frame(admission('1')), Buffer.from('\r\nx'), frame(admission('2'))]))
      await sender.closed
      assert.deepEqual(sender.codes, ['AA 1'])
    }))

  test('may leave out the byte 0x0D behind its messages', () =>
    connected(async (sender) => {
      sender.socket.write(frame(admission('1')).subarray(0, -1))
      await sender.answered(1)
      sender.socket.write(frame(admission('2')).subarray(0, -1))
      await sender.answered(2)
      assert.deepEqual(sender.codes, ['AA 1', 'AA 2'])
    }))

  test('that is ended before the last byte of its message has arrived gets no answer, and the message is not taken', async () => {
    const before = upstream.received.length
    const order = (id: string) => frame(admission(id, { type: 'ORU^R01' }))
    for (const end of ['end', 'destroySoon'] as const) {
      await connected(async (sender) => {
        sender.socket.write(order('1').subarray(0, -1))
        sender.socket[end]()
        await sender.closed
        assert.deepEqual(sender.answers, [])
      })
    }
    await connected(async (sender) => {
      sender.socket.end(order('2'))
      await sender.answered(1)
      assert.deepEqual(sender.codes, ['AA 2'])
    })
    assert.equal(upstream.received.length, before + 1)
  })

  test('with 0x1C in a message at the end of a packet is answered with AR, and closed', () =>
    connected(async (sender) => {
      const broken = frame(admission('1').replace('||1', '||4\x1c2'))
      sender.socket.write(broken.subarray(0, broken.indexOf(0x1c) + 1))
      await setTimeout(30)
      sender.socket.write(broken.subarray(broken.indexOf(0x1c) + 1))
      await sender.closed
      assert.deepEqual(sender.codes, ['AR 1'])
    }))

  test('that ends its messages with 0x0D is not answered without it', () =>
    connected(async (sender) => {
      await sender.ask(admission('1'))
      sender.socket.write(frame(admission('2')).subarray(0, -1))
      await sender.closed
      assert.deepEqual(sender.codes, ['AA 1'])
    }))

  test('may send the byte 0x0D by itself', () =>
    connected(async (sender) => {
      for (const id of ['1', '2']) {
        const whole = frame(admission(id))
        sender.socket.write(whole.subarray(0, -1))
        await setTimeout(30)
        assert.equal(sender.answers.length, Number(id) - 1)
        sender.socket.write(whole.subarray(-1))
        await sender.answered(Number(id))
      }
      assert.deepEqual(sender.codes, ['AA 1', 'AA 2'])
    }))

  test('that never reads does not delay the others, and is closed', async () => {
    const own = await freePort()
    await service.register({
      endpoint: { pattern: '/large' },
      mllp: { port: own },
      transformation: { input: 'HL7V2', output: 'HL7V2' },
      constants: { text: 'long '.repeat(3_000) },
      inputMapping: { 'requestBody.MSH[0].3[0].1': 'MSH[0].3[0].1', 'constants.text': 'NTE[0].3[0].1' },
    })
    await connected(async (sender) => {
      sender.socket.pause()
      sender.socket.write(Buffer.concat(Array.from({ length: 2_000 }, (_, index) => frame(admission(String(index))))))
      const other = await connectSender(own)
      assert.match(await other.ask(admission('1')), /^MSH/)
      other.socket.destroy()
      const status = async () => (await mllpPorts()).find((one) => one.port === own)?.connections
      await until(status, (connections) => connections === 0)
    }, own)
  })

  test('is one of many', async () => {
    const senders = await Promise.all(Array.from({ length: 1_000 }, () => connectSender(port)))
    const answers = await Promise.all(senders.map((sender, index) => sender.ask(admission(String(index)))))
    assert.deepEqual(
      answers.map(codeOf),
      answers.map((_, index) => `AA ${index}`),
    )
    for (const { socket } of senders) socket.destroy()
  })
})

describe('a port', () => {
  test('is open from the first endpoint that names it to the last', async () => {
    const own = await freePort()
    const register = (type: string, pattern: string) =>
      service.register(hl7({ endpoint: { pattern }, mllp: { port: own, types: [type] } }))
    const one = await register('ADT^A01', '/port-one')
    const two = await register('ADT^A02', '/port-two')
    const sender = await connectSender(own)
    await service.fetch(`/endpoints/${one._id}`, { method: 'DELETE' })
    assert.equal(codeOf(await sender.ask(admission('1', { type: 'ADT^A02' }))), 'AA 1')
    assert.equal(codeOf(await sender.ask(admission('2'))), 'AR 2')
    await service.fetch(`/endpoints/${two._id}`, { method: 'DELETE' })
    await sender.closed
    assert.ok(!(await mllpPorts()).some((status) => status.port === own))
    await register('ADT^A03', '/port-one')
    await connected(async (again) => {
      assert.equal(codeOf(await again.ask(admission('3', { type: 'ADT^A03' }))), 'AA 3')
    }, own)
  })

  test('that is taken is reported, and opened once it is free', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const { port: taken } = other.address() as { port: number }
    await service.register(hl7({ endpoint: { pattern: '/taken' }, mllp: { port: taken } }))
    const status = async () => (await mllpPorts()).find((one) => one.port === taken)
    await until(status, (one) => one?.state === 'failed')
    assert.match(String((await status())?.error), /is in use already; stop what uses it, or change "mllp\.port"/)
    const metrics = await (await fetch(`${service.adminUrl}/metrics`)).text()
    assert.ok(metrics.includes(`crosswalk_mllp_ports{port="${taken}",state="failed"} 1`))
    other.close()
    await until(status, (one) => one?.state === 'open')
  })

  test('of the service itself is refused', async (context) => {
    const [own, adminPort] = [await freePort(), await freePort()]
    const fixed = await startService({ SERVER_PORT: String(own), ADMIN_PORT: String(adminPort) })
    context.after(() => fixed.stop())
    for (const [setting, taken] of [
      ['SERVER_PORT', own],
      ['ADMIN_PORT', adminPort],
    ] as const) {
      const reply = await fixed.fetch('/endpoints', json('POST', hl7({ mllp: { port: taken }, endpoint: {} })))
      assert.equal(reply.status, 400)
      assert.match(
        reply.text,
        new RegExp(`The service itself listens on port ${taken} \\(${setting}\\); choose another`),
      )
    }
  })

  test('has one endpoint for each type', async () => {
    const clash = hl7({ name: 'again', endpoint: { pattern: '/again' }, mllp: { port, types: ['ORU'] } })
    const reply = await service.fetch('/endpoints', json('POST', clash))
    assert.equal(reply.status, 409)
    assert.match(reply.text, /\(ORU on MLLP port \d+\) takes the same messages already; change the types or the port/)
  })
})
