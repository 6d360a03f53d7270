import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
import { timesAsCostly } from '../../../support/cpu-time.ts'
import { failsWith, get, OK, onRequests, startClient, startHttp, startTcp, text, untilKept } from './upstream.ts'

test('sends method, path, query, headers and body, and gives status, headers and body back', async (t) => {
  const upstream = await startHttp(t, (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk) => chunks.push(chunk))
    request.on('end', () => {
      response.writeHead(207, { 'X-Seen': `${request.method} ${request.url}`, 'Set-Cookie': ['a=1', 'b=2'] })
      response.end(JSON.stringify({ headers: request.headers, body: Buffer.concat(chunks).toString() }))
    })
  })
  const answer = await startClient(t).send(
    get(`${upstream.url}/a%2Fb/c?d=e:f,g&d=%C3%A9`, {
      method: 'PUT',
      headers: {
        'x-own': 'é',
        'content-type': 'text/plain',
        'content-length': '999',
        connection: 'close',
        expect: 'x',
      },
      body: 'grüezi',
    }),
  )
  assert.equal(answer.status, 207)
  assert.equal(answer.headers['x-seen'], 'PUT /a%2Fb/c?d=e:f,g&d=%C3%A9')
  assert.deepEqual(answer.headers['set-cookie'], ['a=1', 'b=2'])
  const seen = JSON.parse(text(answer.body))
  assert.equal(seen.body, 'grüezi')
  assert.equal(seen.headers['x-own'], 'é')
  assert.equal(seen.headers['content-length'], '7')
  assert.equal(seen.headers['accept-encoding'], 'identity')
  assert.equal(seen.headers.connection, 'keep-alive')
})

test('sends bytes unchanged, and its own accept-encoding where the request has one', async (t) => {
  const upstream = await startHttp(t, (request, response) => {
    response.setHeader('x-accept-encoding', String(request.headers['accept-encoding']))
    request.pipe(response)
  })
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
  const answer = await startClient(t).send(
    get(upstream.url, { method: 'POST', body: bytes, headers: { 'accept-encoding': 'gzip' } }),
  )
  assert.deepEqual([...answer.body], [...bytes])
  assert.equal(answer.headers['x-accept-encoding'], 'gzip')
})

test('an answer without a body is empty', async (t) => {
  for (const [method, status, headers] of [
    ['HEAD', 200, { 'content-length': '99999999' }],
    ['GET', 204, {}],
    ['GET', 304, { 'content-length': '99999999', 'content-encoding': 'gzip' }],
  ] as const) {
    const upstream = await startHttp(t, (_request, response) => response.writeHead(status, headers).end())
    const answer = await startClient(t).send(get(upstream.url, { method }))
    assert.deepEqual([answer.status, answer.body.length], [status, 0])
  }
})

test('interim answers are passed over', async (t) => {
  const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
  const upstream = await startTcp(t, (socket) => onRequests(socket, () => `HTTP/1.1 102 Wait\r\n\r\n${early}${OK}`))
  const answer = await startClient(t).send(get(upstream.url))
  assert.equal(answer.status, 200)
  assert.equal(answer.headers.link, undefined)
  assert.equal(text(answer.body), 'ok')
})

test('an answer that ends with its connection is whole', async (t) => {
  const upstream = await startTcp(t, (socket) => {
    onRequests(socket, () => 'HTTP/1.1 200 OK\r\n\r\nall of it')
    socket.once('data', () => socket.end())
  })
  assert.equal(text((await startClient(t).send(get(upstream.url))).body), 'all of it')
})

test('opens no more connections to one origin than it may; the others wait their turn', async (t) => {
  const upstream = await startHttp(t, (_request, response) => response.end('ok'))
  const client = startClient(t, { connectionsPerOrigin: 2 })
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.send(get(upstream.url))))
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
  assert.equal(upstream.sockets.length, 2)
})

test('closing waits for what is under way, refuses what comes after, and leaves no connection', async (t) => {
  const upstream = await startHttp(t, (_request, response) => void held.push(() => response.end('late')))
  const held: (() => void)[] = []
  const client = startClient(t)
  const running = client.send(get(upstream.url))
  while (held.length === 0) await new Promise(setImmediate)
  const closing = client.close()
  await assert.rejects(client.send(get(`${upstream.url}/secret`)), failsWith('unreachable', /shutting down/))
  held[0]?.()
  assert.equal(text((await running).body), 'late')
  await closing
  await client.close()
  await upstream.quiet()
})

test('closing gives up connections that are still being opened', async (t) => {
  const upstream = await startTcp(t, () => {})
  const client = startClient(t, { connectTimeoutMs: 60_000 })
  const url = upstream.url.replace('http:', 'https:')
  await assert.rejects(client.send(get(url, { timeoutMs: 100 })), failsWith('timeout', /100 ms/))
  await client.close()
  for (const socket of upstream.sockets) socket.resume().on('end', () => socket.end())
  await upstream.quiet()
})

test('what cannot be sent is refused before anything is', async (t) => {
  const upstream = await startHttp(t, (_request, response) => response.end('ok'))
  const client = startClient(t)
  const cases = [
    { request: get('/relative?secret'), message: /not an absolute http or https URL/ },
    { request: get('ftp://secret.example/'), message: /not an absolute http or https URL/ },
    {
      request: get(upstream.url, { headers: { 'x-a': 'b\r\nsecret: c' } }),
      message: /\(invalid x-a header\).*line break/,
    },
    { request: get(upstream.url, { headers: { 'x a': 'b' } }), message: /invalid header key/ },
    { request: get(upstream.url, { method: 'GE T' }), message: /invalid request method/ },
  ]
  for (const { request, message } of cases) {
    await assert.rejects(client.send({ ...request, retries: 3 }), failsWith('unreachable', message))
  }
  assert.equal(upstream.sockets.length, 0)
})

test('credentials in a URL are not sent', async (t) => {
  const upstream = await startHttp(t, (request, response) => response.end(String(request.headers.authorization)))
  const answer = await startClient(t).send(get(upstream.url.replace('//', '//user:secret@')))
  assert.equal(text(answer.body), 'undefined')
})

test('the error of a lost connection has its cause, without query or credentials', async (t) => {
  const sent = async (text: string) => (await startTcp(t, (socket) => socket.once('data', () => socket.end(text)))).url
  const reset = await startTcp(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  const chunk = 'transfer-encoding: chunked\r\n\r\n5\r\nha'
  const cases: readonly (readonly [name: string, url: string, message: RegExp])[] = [
    ['refused', 'http://127.0.0.1:1', /connection refused/],
    ['reset', reset.url, /connection reset/],
    ['nothing', await sent(''), /closed before the answer was complete/],
    [
      'half a body',
      await sent('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'),
      /closed before the answer was complete/,
    ],
    ['half a chunk', await sent(`HTTP/1.1 200 OK\r\n${chunk}`), /closed before the answer was complete/],
    [
      'half a last chunk',
      await sent(`HTTP/1.1 200 OK\r\nconnection: close\r\n${chunk}`),
      /closed before the answer was/,
    ],
    ['a 100', await sent('HTTP/1.1 100 Continue\r\n\r\n'), /status 100 or 101/],
    ['a 101', await sent('HTTP/1.1 101 Other\r\nupgrade: x\r\n\r\n'), /status 100 or 101|not valid HTTP/],
    ['two lengths', await sent('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 12\r\n\r\na'), /closed before/],
    ['no HTTP', await sent('SSH-2.0-OpenSSH_9.6\r\n'), /not valid HTTP/],
    [
      'a long header',
      await sent(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`),
      /headers of the answer are too large/,
    ],
  ]
  const client = startClient(t)
  for (const [name, url, message] of cases) {
    const target = new URL(`${url}/${encodeURIComponent(name)}?token=secret`)
    target.password = 'secret'
    await assert.rejects(client.send(get(target.href)), (error) => {
      failsWith('unreachable', message)(error)
      assert.ok(String(error).includes(`GET ${url}/${encodeURIComponent(name)} `), String(error))
      return true
    })
  }
  const plain = await startHttp(t, (_request, response) => response.end())
  const secure = client.send(get(plain.url.replace('http:', 'https:')))
  await assert.rejects(secure, failsWith('unreachable', /no secure connection \((ERR_SSL|EPROTO)/))
})

test('a great many headers cost little more than as many bytes in few, and the next call is answered', async (t) => {
  const { stackTraceLimit } = Error
  const headers = (count: number, bytes: number) =>
    `HTTP/1.1 200 OK\r\n${`x: ${'y'.repeat(bytes)}\r\n`.repeat(count)}\r\n`
  const many = headers(20_000, 4)
  const client = startClient(t)
  const refusing = async (answer: string) => {
    const { url } = await startTcp(t, (socket) => onRequests(socket, () => answer))
    return async () => {
      for (let call = 0; call < 10; call += 1)
        await assert.rejects(client.send(get(url)), failsWith('unreachable', /headers/))
    }
  }
  const usual = await refusing(headers(20, 8_000))
  await usual()
  // An error with a stack for each header would cost fifty times as much and more.
  const times = await timesAsCostly(await refusing(many), usual)
  assert.ok(times < 30, `${times} times`)
  const { url } = await startTcp(t, (socket, index) => onRequests(socket, () => (index === 0 ? many : OK)))
  await assert.rejects(client.send(get(url)), failsWith('unreachable', /headers/))
  assert.equal((await client.send(get(url))).status, 200)
  await untilKept()
  assert.equal(Error.stackTraceLimit, stackTraceLimit)
})

test('connecting has a limit of its own', async (t) => {
  const silent = await startTcp(t, () => {})
  const client = startClient(t, { connectTimeoutMs: 100 })
  const url = silent.url.replace('http:', 'https:')
  await assert.rejects(client.send(get(url)), failsWith('timeout', /no connection within 100 ms/))
})

const slow = {
  'a black hole': () => undefined,
  'a drip': (socket: Socket) => {
    // From the request on: what a busy machine lets the timer write before the head is no HTTP.
    const timer = setInterval(() => socket.write('1\r\nx\r\n'), 10)
    socket.on('close', () => clearInterval(timer))
    return 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n'
  },
  'an endless interim': () => 'HTTP/1.1 102 Wait\r\n\r\n',
}
for (const [name, answer] of Object.entries(slow)) {
  test(`the timeout ends ${name}, and drops its connection`, async (t) => {
    const upstream = await startTcp(t, (socket) => onRequests(socket, () => answer(socket)))
    const client = startClient(t)
    await assert.rejects(client.send(get(upstream.url, { timeoutMs: 150 })), failsWith('timeout', /after 150 ms/))
    await upstream.quiet()
  })
}

test('the timeout ends a request that waits for a connection, and spares the connection', async (t) => {
  const { promise: firstCame, resolve: answerable } = Promise.withResolvers<() => void>()
  const upstream = await startHttp(t, (request, response) => {
    if (request.url === '/first') answerable(() => response.end('first'))
    else response.end(request.url)
  })
  const client = startClient(t, { connectionsPerOrigin: 1 })
  const first = client.send(get(`${upstream.url}/first`))
  await assert.rejects(client.send(get(`${upstream.url}/second`, { timeoutMs: 100 })), failsWith('timeout', /100 ms/))
  const answer = await firstCame
  answer()
  assert.equal(text((await first).body), 'first')
  assert.equal(text((await client.send(get(`${upstream.url}/third`))).body), '/third')
  assert.equal(upstream.sockets.length, 1)
})

test('no time left means nothing is sent', async (t) => {
  const upstream = await startHttp(t, (_request, response) => response.end('ok'))
  for (const timeoutMs of [0, -5, Number.NaN]) {
    await assert.rejects(startClient(t).send(get(upstream.url, { timeoutMs })), failsWith('timeout', /timed out/))
  }
  assert.equal(upstream.sockets.length, 0)
  assert.equal((await startClient(t).send(get(upstream.url, { timeoutMs: 1e12 }))).status, 200)
})

test('an answer that came leaves no timer behind', async (t) => {
  const upstream = await startHttp(t, (_request, response) => response.end('ok'))
  const client = startClient(t)
  const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length
  await client.send(get(upstream.url))
  const before = timers()
  await Promise.all(Array.from({ length: 10 }, () => client.send(get(upstream.url, { timeoutMs: 60_000 }))))
  assert.ok(timers() <= before + 2, `${timers()} timers, ${before} before`)
})

test('a size over the limit that is declared is refused at once, and the connection dropped', async (t) => {
  const upstream = await startTcp(t, (socket) =>
    onRequests(socket, () => 'HTTP/1.1 200 OK\r\ncontent-length: 65537\r\n\r\n'),
  )
  const client = startClient(t)
  await assert.rejects(client.send(get(upstream.url)), failsWith('too-large', /limit of 65536 bytes/))
  await upstream.quiet()
})

test('an endless body is refused at the limit, and the connection dropped', async (t) => {
  const upstream = await startHttp(t, (_request, response) => {
    const pump = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
    }
    response.on('drain', pump)
    pump()
  })
  const client = startClient(t)
  await assert.rejects(client.send(get(upstream.url, { retries: 3 })), failsWith('too-large', /limit of 65536 bytes/))
  await upstream.quiet()
  assert.equal(upstream.sockets.length, 1)
})

test('a body of exactly the limit is taken, in one chunk or in many', async (t) => {
  const upstream = await startHttp(t, async (request, response) => {
    const size = 65_536 + Number(request.url?.slice(1))
    for (let sent = 0; sent < size; sent += 7) {
      if (!response.write('abcdefg'.slice(0, size - sent)))
        await Promise.race([once(response, 'drain'), once(response, 'close')])
    }
    response.end()
  })
  const client = startClient(t)
  const { body } = await client.send(get(`${upstream.url}/0`))
  assert.equal(text(body), 'abcdefg'.repeat(9_363).slice(0, 65_536))
  await assert.rejects(client.send(get(`${upstream.url}/1`)), failsWith('too-large', /limit/))
})
