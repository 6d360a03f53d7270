import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { test } from 'node:test'
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

test('follows no redirects', async (t) => {
  const upstream = await startHttp(t, (_request, response) => response.writeHead(302, { location: '/other' }).end())
  const answer = await startClient(t).send(get(upstream.url))
  assert.equal(answer.status, 302)
  assert.equal(answer.headers.location, '/other')
})

const bodiless = [
  { name: 'HEAD', method: 'HEAD', status: 200, headers: { 'content-length': '99999999' } },
  { name: '204', method: 'GET', status: 204, headers: {} },
  { name: '304', method: 'GET', status: 304, headers: { 'content-length': '99999999', 'content-encoding': 'gzip' } },
]
for (const { name, method, status, headers } of bodiless) {
  test(`an answer without a body is empty: ${name}`, async (t) => {
    const upstream = await startHttp(t, (_request, response) => response.writeHead(status, headers).end())
    const answer = await startClient(t).send(get(upstream.url, { method }))
    assert.equal(answer.status, status)
    assert.equal(answer.body.length, 0)
  })
}

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

test('a connection is kept and used again', async (t) => {
  const upstream = await startHttp(t, (_request, response) => response.end('ok'))
  const client = startClient(t)
  for (let round = 0; round < 5; round++) {
    assert.equal(text((await client.send(get(upstream.url))).body), 'ok')
    await untilKept()
  }
  assert.equal(upstream.sockets.length, 1)
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
  const raw = (respond: string) => startTcp(t, (socket) => socket.once('data', () => socket.end(respond)))
  const reset = await startTcp(t, (socket) => socket.once('data', () => socket.resetAndDestroy()))
  const cases = [
    { name: 'refused', url: 'http://127.0.0.1:1', message: /connection refused/ },
    { name: 'reset', url: reset.url, message: /connection reset/ },
    { name: 'nothing', url: (await raw('')).url, message: /closed before the answer was complete/ },
    {
      name: 'half a body',
      url: (await raw('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf')).url,
      message: /closed before the answer was complete/,
    },
    {
      name: 'half a chunk',
      url: (await raw('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nha')).url,
      message: /closed before the answer was complete/,
    },
    {
      name: 'half a chunk of a last answer',
      url: (await raw('HTTP/1.1 200 OK\r\nconnection: close\r\ntransfer-encoding: chunked\r\n\r\n5\r\nha')).url,
      message: /closed before the answer was complete/,
    },
    { name: 'a 100', url: (await raw('HTTP/1.1 100 Continue\r\n\r\n')).url, message: /status 100 or 101/ },
    {
      name: 'a 101',
      url: (await raw('HTTP/1.1 101 Other\r\nupgrade: x\r\n\r\n')).url,
      message: /status 100 or 101|not valid HTTP/,
    },
    {
      name: 'two lengths',
      url: (await raw('HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 12\r\n\r\na')).url,
      message: /closed before/,
    },
    { name: 'no HTTP', url: (await raw('SSH-2.0-OpenSSH_9.6\r\n')).url, message: /not valid HTTP/ },
    {
      name: 'a header without end',
      url: (await raw(`HTTP/1.1 200 OK\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`)).url,
      message: /headers of the answer are too large/,
    },
  ]
  const client = startClient(t)
  for (const { name, url, message } of cases) {
    const target = new URL(`${url}/${encodeURIComponent(name)}?token=secret`)
    target.password = 'secret'
    await assert.rejects(client.send(get(target.href)), (error) => {
      failsWith('unreachable', message)(error)
      assert.ok(String(error).includes(`GET ${url}/${encodeURIComponent(name)} `), String(error))
      return true
    })
  }
  const plain = await startHttp(t, (_request, response) => response.end())
  await assert.rejects(
    client.send(get(plain.url.replace('http:', 'https:'))),
    failsWith('unreachable', /no secure connection \((ERR_SSL|EPROTO)/),
  )
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
