import assert from 'node:assert/strict'
import type { Socket } from 'node:net'
import { describe, test } from 'node:test'
import { createEgressPolicy, parseEgressRule } from '../../../../src/core/egress/egress-policy.ts'
import { CircuitOpen, OutboundError } from '../../../../src/core/ports/http-client-port.ts'
import { writeFrame } from '../../../../src/outbound/mllp/frames.ts'
import { MllpClient, type MllpOptions, type MllpRequest } from '../../../../src/outbound/mllp/mllp-client.ts'
import { until } from '../../../support/until.ts'
import { acknowledge, Listener, message, STATUSES } from './listener.ts'

const ANYWHERE = { egressAllow: [], egressDeny: [], egressPrivate: 'allow' } as const

/** Both are closed at the end of the test. */
async function open(options: Partial<MllpOptions> = {}) {
  const listener = await new Listener().start()
  const client = new MllpClient({
    connectTimeoutMs: 2_000,
    limitBytes: 1_000,
    maxConnections: 10,
    idleMs: 30_000,
    egress: { policy: createEgressPolicy(ANYWHERE) },
    tlsFor: () => undefined,
    ...options,
  })
  const send = (id: string, more: Partial<MllpRequest> = {}) =>
    client.send({
      url: listener.url,
      content: Buffer.from(message(id)),
      timeoutMs: 10_000,
      retries: 0,
      idempotent: false,
      patient: false,
      take: () => true,
      ...more,
    })
  return {
    listener,
    client,
    send,
    [Symbol.asyncDispose]: async () => {
      await client.close()
      await listener.stop()
    },
  }
}

const failsWith = (fault: OutboundError['fault'], pattern: RegExp) => (thrown: unknown) => {
  assert.ok(thrown instanceof OutboundError, String(thrown))
  assert.equal(thrown.fault, fault)
  assert.match(thrown.message, pattern)
  return true
}

describe('an acknowledgement', () => {
  for (const [code, status] of STATUSES) {
    test(`with ${code} is an answer with status ${status}`, async () => {
      await using opened = await open()
      const { listener, send } = opened
      listener.answer = acknowledge(code)
      const answer = await send('7')
      assert.equal(answer.status, status)
      assert.deepEqual(answer.headers, { 'content-type': 'application/hl7-v2' })
      assert.equal(Buffer.from(answer.body).toString(), acknowledge(code)(message('7'), undefined as never))
      assert.deepEqual(listener.messages, [message('7')])
    })
  }

  test('arrives however its bytes are cut', async () => {
    await using opened = await open()
    const { listener, send } = opened
    listener.answer = (text, socket) => {
      const frame = writeFrame(Buffer.from(acknowledge('AA')(text, socket) as string))
      socket.setNoDelay(true)
      const writeFrom = (at: number): void => {
        if (at < frame.length) socket.write(frame.subarray(at, at + 1), () => setImmediate(writeFrom, at + 1))
      }
      writeFrom(0)
      return undefined
    }
    assert.equal((await send('1')).status, 200)
    assert.equal((await send('2')).status, 200)
    assert.equal(listener.connections, 1)
  })

  const wrong: readonly [name: string, answer: string | Buffer, fault: OutboundError['fault'], sentence: RegExp][] = [
    [
      'for another message',
      acknowledge('AA')(message('other'), undefined as never) as string,
      'unreadable',
      /MSA-2 is not the MSH-10/,
    ],
    ['without MSA', 'MSH|^~\\&|a\rPID|1\r', 'unreadable', /no|not a message of HL7 v2 with an MSA/],
    ['with an unknown code', 'MSH|^~\\&|a\rMSA|OK|7\r', 'unreadable', /no known code in MSA-1/],
    ['beyond the limit', `MSH|^~\\&|${'x'.repeat(2_000)}`, 'too-large', /larger than the limit of 1000 bytes/],
    ['that is not MLLP', Buffer.from(`HTTP/1.1 400 Bad Request\r\n\r\n${'x'.repeat(1_000)}`), 'unreadable', /not MLLP/],
  ]
  for (const [name, answer, fault, sentence] of wrong) {
    test(`${name} fails, and its connection is not used again`, async () => {
      await using opened = await open()
      const { listener, send } = opened
      listener.answer = () => answer
      await assert.rejects(send('7'), failsWith(fault, sentence))
      await listener.allClosed()
      listener.answer = acknowledge('AA')
      assert.equal((await send('7')).status, 200)
      assert.equal(listener.connections, 2)
    })
  }

  test('is not compared where the message has no control id', async () => {
    await using opened = await open()
    const { listener, send } = opened
    listener.answer = () => 'MSH|^~\\&|a\rMSA|AA|anything\r'
    assert.equal((await send('', { content: Buffer.from('a text') })).status, 200)
  })

  test('that is more than the message may read fails', async () => {
    await using opened = await open()
    await assert.rejects(opened.send('7', { take: () => false }), failsWith('over-budget', /may still read/))
    await opened.listener.allClosed()
  })
})

test('a late acknowledgement is never taken for that of the next message', async () => {
  await using opened = await open()
  const { listener, send } = opened
  let late: (() => void) | undefined
  listener.answer = (text, socket) => {
    late = () => socket.write(writeFrame(Buffer.from(acknowledge('AA')(text, socket) as string)))
    return undefined
  }
  await assert.rejects(send('1', { timeoutMs: 100 }), failsWith('timeout', /timed out after 100 ms/))
  listener.answer = acknowledge('AR')
  late?.()
  assert.equal((await send('2')).status, 422)
  assert.equal(listener.connections, 2)
  await until(
    () => listener.sockets.size,
    (size) => size === 1,
  )
})

test('the application acknowledgement that follows an accept acknowledgement is never taken for that of the next message', async () => {
  await using opened = await open()
  const { listener, send } = opened
  let first: Socket | undefined
  listener.answer = (text, socket) => {
    const accepted = writeFrame(Buffer.from(acknowledge('CA')(text, socket) as string))
    if (first !== socket) {
      first = socket
      return accepted
    }
    return Buffer.concat([writeFrame(Buffer.from('MSH|^~\\&|a\rMSA|AR|\r')), accepted])
  }
  for (const id of ['1', '', '3']) {
    assert.equal((await send(id)).status, 200)
    await listener.allClosed()
  }
  assert.equal(listener.connections, 3)
})

for (const extra of ['a second acknowledgement', 'the start of one']) {
  test(`a connection on which ${extra} came unasked is not used again`, async () => {
    await using opened = await open()
    const { listener, send } = opened
    listener.answer = (text, socket) => {
      const frame = writeFrame(Buffer.from(acknowledge('AA')(text, socket) as string))
      return Buffer.concat([frame, extra === 'the start of one' ? frame.subarray(0, 5) : frame])
    }
    assert.equal((await send('1')).status, 200)
    await listener.allClosed()
    assert.equal((await send('2')).status, 200)
    assert.equal(listener.connections, 2)
  })
}

test('bytes on a connection without a message close it, but for line ends', async () => {
  await using opened = await open()
  const { listener, send } = opened
  await send('1')
  const [socket] = listener.sockets
  socket?.write('\r\n')
  assert.equal((await send('2')).status, 200)
  assert.equal(listener.connections, 1)
  socket?.write(writeFrame(Buffer.from('MSH|^~\\&|a\rMSA|AA|3\r')))
  await listener.allClosed()
  assert.equal((await send('3')).status, 200)
  assert.equal(listener.connections, 2)
})

describe('connections', () => {
  test('are used again, one message at a time', async () => {
    await using opened = await open()
    const { listener, send } = opened
    for (const id of ['1', '2', '3']) assert.equal((await send(id)).status, 200)
    assert.equal(listener.connections, 1)
  })

  test('are bounded in number; further messages wait', async () => {
    await using opened = await open({ maxConnections: 3 })
    const { listener, send } = opened
    listener.answer = (text, socket) => {
      setTimeout(() => socket.write(writeFrame(Buffer.from(acknowledge('AA')(text, socket) as string))), 5)
      return undefined
    }
    const answers = await Promise.all(Array.from({ length: 30 }, (_, index) => send(`${index}`)))
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal(listener.maxBusy, 3)
    assert.equal(listener.connections, 3)
    assert.equal(listener.messages.length, 30)
  })

  test('are waited for no longer than the message may take', async () => {
    await using opened = await open({ maxConnections: 1 })
    const { listener, send } = opened
    listener.answer = () => undefined
    const first = send('1', { timeoutMs: 400 })
    const second = send('2', { timeoutMs: 100 })
    await assert.rejects(second, failsWith('timeout', /timed out after 100 ms/))
    await assert.rejects(first, failsWith('timeout', /timed out after 400 ms/))
    listener.answer = acknowledge('AA')
    assert.equal((await send('3')).status, 200)
    assert.deepEqual(listener.messages, [message('1'), message('3')])
  })

  test('that are idle are closed', async () => {
    await using opened = await open({ idleMs: 20 })
    await opened.send('1')
    await opened.listener.allClosed()
    assert.equal((await opened.send('2')).status, 200)
  })

  test('that the listener closed while idle fail no message', async () => {
    await using opened = await open()
    const { listener, send, client } = opened
    await send('1')
    for (const socket of listener.sockets) socket.end()
    await listener.allClosed()
    assert.equal((await send('2')).status, 200)
    assert.deepEqual(client.health().open, [])
  })
})

describe('a listener', () => {
  test('that closes instead of acknowledging fails the message', async () => {
    await using opened = await open()
    opened.listener.answer = (_, socket) => {
      socket.end()
      return undefined
    }
    await assert.rejects(
      opened.send('1'),
      failsWith('unreachable', /got no acknowledgement: connection closed before the acknowledgement arrived/),
    )
  })

  test('that is killed fails the messages on the wire, and the next one gets a new connection', async () => {
    await using opened = await open()
    const { listener, send } = opened
    listener.answer = () => undefined
    const all = ['1', '2', '3'].map((id) => send(id))
    const ended = Promise.allSettled(all)
    await until(
      () => listener.messages.length,
      (count) => count === 3,
    )
    listener.kill()
    for (const result of await ended) {
      assert.equal(result.status, 'rejected')
      failsWith('unreachable', /connection reset|connection closed/)((result as PromiseRejectedResult).reason)
    }
    listener.answer = acknowledge('AA')
    assert.equal((await send('4')).status, 200)
  })

  test('that there is not', async () => {
    const opened = await open()
    const { url } = opened.listener
    await opened.listener.stop()
    await assert.rejects(opened.send('1', { url }), failsWith('unreachable', /connection refused/))
    await opened.client.close()
  })

  test('that fails several times in a row gets no further message for a while, but answers with AE do not count', async () => {
    const circuit = { failures: 3, pauseMs: 60_000, maxPauseMs: 60_000 }
    await using opened = await open({ circuit })
    const { listener, send, client } = opened
    listener.answer = acknowledge('AE')
    for (const id of ['1', '2', '3', '4']) assert.equal((await send(id)).status, 503)
    listener.answer = (_, socket) => {
      socket.destroy()
      return undefined
    }
    // The first of these has a connection that was kept: that it is closed says nothing of the listener.
    for (const id of ['5', '6', '7', '8']) await assert.rejects(send(id, { content: Buffer.from(message(id)) }))
    await assert.rejects(
      send('9'),
      (thrown) => thrown instanceof CircuitOpen && /was not sent: the last 3/.test(thrown.message),
    )
    assert.deepEqual(client.health().open, [listener.url])
    assert.equal(listener.messages.length, 8)
  })
})

test('a message that is stopped before its acknowledgement says nothing about the listener', async () => {
  await using opened = await open({ circuit: { failures: 1, pauseMs: 60_000, maxPauseMs: 60_000 } })
  const { listener, send, client } = opened
  listener.answer = () => undefined
  for (let sent = 1; sent <= 3; sent += 1) {
    const stopping = new AbortController()
    const ended = assert.rejects(send(`${sent}`, { signal: stopping.signal }), failsWith('timeout', /was stopped/))
    await until(
      () => listener.messages.length,
      (count) => count === sent,
    )
    stopping.abort()
    await ended
  }
  assert.equal(client.health().opened, 0)
})

describe('a message', () => {
  test('is sent again only if it may be, after AE and after a lost connection', async () => {
    await using opened = await open()
    const { listener, send } = opened
    const answers = [acknowledge('AE'), () => undefined, acknowledge('AA')]
    listener.answer = (text, socket) => {
      const answer = answers[listener.messages.length - 1]?.(text, socket)
      if (answer === undefined) socket.destroy()
      return answer
    }
    assert.equal((await send('1', { retries: 2, idempotent: true })).status, 200)
    assert.equal(listener.messages.length, 3)
    listener.messages.length = 0
    assert.equal((await send('2')).status, 503)
    assert.equal(listener.messages.length, 1)
  })

  test('that may be sent twice is sent again at once where its kept connection turns out to be closed', async () => {
    await using opened = await open()
    const { listener, send } = opened
    await send('1')
    listener.answer = (text, socket) => {
      if (listener.connections > 1) return acknowledge('AA')(text, socket)
      socket.resetAndDestroy()
      return undefined
    }
    assert.equal((await send('2', { idempotent: true })).status, 200)
    assert.deepEqual(listener.messages, [message('1'), message('2'), message('2')])
  })

  test('with the byte that ends a frame is not sent', async () => {
    await using opened = await open()
    const content = Buffer.from(`${message('1')}\x1c\r\x0b${message('2')}`)
    await assert.rejects(opened.send('1', { content }), failsWith('refused', /0x1C/))
    assert.equal(opened.listener.connections, 0)
  })

  test('may be larger than what the network takes at once', async () => {
    await using opened = await open()
    const content = Buffer.from(`${message('1')}OBX|1|TX|${'x'.repeat(900_000)}\r`)
    assert.equal((await opened.send('1', { content })).status, 200)
    assert.equal(opened.listener.messages[0]?.length, content.length)
  })

  test('goes only where the operator allows, by name and by address', async () => {
    const denied = [parseEgressRule('127.0.0.1') ?? assert.fail()]
    const policy = createEgressPolicy({ ...ANYWHERE, egressDeny: denied })
    await using opened = await open({ egress: { policy } })
    const { listener, send } = opened
    await assert.rejects(send('1'), failsWith('denied', /is not allowed: EGRESS_DENY denies it/))
    await assert.rejects(
      send('1', { url: `mllp://localhost:${listener.port}` }),
      failsWith('denied', /is not allowed: EGRESS_DENY denies it/),
    )
    assert.equal(listener.connections, 0)
  })
})

test('whatever a listener does, an answer is that of its own message, and nothing waits beyond its time', async () => {
  await using opened = await open({ maxConnections: 20 })
  const { listener, send } = opened
  const random = seededRandom(7)
  const later = (ms: number, work: () => void) => void setTimeout(work, ms)
  listener.answer = (text, socket) => {
    const own = Buffer.from(acknowledge(random() < 0.5 ? 'AA' : 'AE')(text, socket) as string)
    const frame = writeFrame(own)
    const cut = Math.floor(random() * frame.length)
    const other = writeFrame(Buffer.from('MSH|^~\\&|a\rMSA|AA|another\r'))
    const deeds: readonly (() => void)[] = [
      () => socket.write(frame),
      () => later(3, () => socket.write(frame)),
      () => later(60, () => socket.write(frame)),
      () => {
        socket.write(frame.subarray(0, cut))
        later(2, () => socket.write(frame.subarray(cut)))
      },
      () => socket.write(Buffer.concat([frame, frame])),
      () => socket.write(other),
      () => socket.write(Buffer.from('\r\n')),
      () => socket.end(frame.subarray(0, cut)),
      () => socket.end(frame),
      () => socket.resetAndDestroy(),
      () => undefined,
    ]
    deeds[Math.floor(random() * deeds.length)]?.()
    return undefined
  }
  let answers = 0
  for (let round = 0; round < 15; round += 1) {
    const ids = Array.from({ length: 25 }, (_, index) => `m${round}.${index}`)
    const results = await Promise.allSettled(
      ids.map((id) => send(id, { timeoutMs: 150, idempotent: random() < 0.5, retries: 1 })),
    )
    for (const [index, result] of results.entries()) {
      if (result.status === 'rejected') assert.ok(result.reason instanceof OutboundError, String(result.reason))
      else {
        answers += 1
        assert.match(Buffer.from(result.value.body).toString(), new RegExp(`MSA\\|A[AE]\\|${ids[index]}\\r`))
      }
    }
  }
  // Chance and the speed of the machine decide how many.
  assert.ok(answers > 0, `${answers} answers`)
  listener.answer = acknowledge('AA')
  assert.equal((await send('last')).status, 200)
})

/** 0 to below 1 (mulberry32). */
function seededRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

test('closing waits for the messages on the wire, and takes no further one', async () => {
  await using opened = await open()
  const { listener, send, client } = opened
  let release: (() => void) | undefined
  listener.answer = (text, socket) => {
    release = () => socket.write(writeFrame(Buffer.from(acknowledge('AA')(text, socket) as string)))
    return undefined
  }
  const sent = send('1')
  await until(
    () => release,
    (found) => found !== undefined,
  )
  const closed = client.close()
  await assert.rejects(send('2'), failsWith('unreachable', /shutting down/))
  release?.()
  assert.equal((await sent).status, 200)
  await closed
  await listener.allClosed()
})
