/**
 * Viewers, authors and senders who mean harm, together and at random, beside steady messages of another endpoint:
 * `node bin/node.js test/system/load/hostile-callers.ts [--seconds 600] [--seed 1]` prints what was answered that no page of the
 * docs explains, how long `GET /uptime` took, and the memory of the service at the start, in the middle and at the end.
 * Ends with 1 where an answer is unexplained, p99 of `/uptime` is above 50 ms, or the heap has grown by more than 64 MB.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { FAILURES } from '../../../src/core/failure-table.ts'
import fc from '../../support/fast-check.ts'
import { bytesNear, jsonText, names, xmlText } from '../../support/fuzz/arbitraries.ts'
import { documentTexts } from '../../support/fuzz/documents.ts'
import { dryRunTexts } from '../../support/fuzz/dry-runs.ts'
import { HOSTILE } from '../hostile/run.ts'
import { type BundledService, startBundled } from './bundled-service.ts'
import { readHeapOf, residentMb } from './process-memory.ts'
import { startUptimeProbe } from './uptime-probe.ts'

export type HostileCallersReport = Readonly<{
  calls: Readonly<Record<Caller, number>>
  /** How many answers had each status and code. */
  answers: Readonly<Record<string, number>>
  /** Answers of 500 and above that are not failures of the table, or the table calls a fault of the service. */
  unexplained: readonly string[]
  /** Messages of the other endpoint that were not answered as they should be, and were not refused for load. */
  othersWrong: readonly string[]
  uptime: Readonly<{ p50Ms: number; p99Ms: number; maxMs: number }>
  residentMb: readonly number[]
  heapMb: readonly number[]
}>

type Caller = 'viewer' | 'author' | 'sender'
type Call = Readonly<{
  port: 'message' | 'admin'
  method: string
  path: string
  type?: string
  body?: string | Uint8Array
  key?: string
}>

/** The requests of each kind of caller under way at once. */
const CONCURRENCY: Readonly<Record<Caller, number>> = { viewer: 3, author: 2, sender: 6 }

const PUBLISHED = 12
const JSON_TYPE = 'application/json'

const long = fc.constantFrom(1_000, 20_000, 100_000, 300_000)
const many = fc.constantFrom(10, 1_000, 5_000)

/** Bodies of up to a megabyte, of the shapes that cost the most. */
const hostileBodies: fc.Arbitrary<string> = fc.oneof(
  jsonText,
  long.map((length) =>
    JSON.stringify({ ward: 'å'.repeat(length), items: Array.from({ length: 1_000 }, (_, id) => ({ id })) }),
  ),
  fc.tuple(long, many).map(([length, count]) => {
    const name = 'n'.repeat(Math.min(length, 200_000))
    return JSON.stringify({ [name]: Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, at])) })
  }),
  many.map((count) =>
    JSON.stringify({ items: Array.from({ length: count }, (_, at) => ({ [`k${at}`]: [at, [at]] })) }),
  ),
  long.map((length) => '['.repeat(length)),
  long.map((length) => `{"a":${'['.repeat(60)}${'0,'.repeat(length)}0${']'.repeat(60)}}`),
  long.map((length) => JSON.stringify({ text: '\u0001"\\'.repeat(length / 4) })),
)
const hostileXml = fc.oneof(
  xmlText,
  long.map((length) => `<a>${'<b/>'.repeat(length)}</a>`),
  long.map((length) => `<a ${'x'.repeat(length)}="1">&amp;</a>`),
  fc.constant('<!DOCTYPE a [<!ENTITY b "bb">]><a>&b;</a>'),
)
const keys = fc.oneof(
  fc.constantFrom('"one"', 'none', `"${'k'.repeat(300)}"`),
  fc.nat().map((key) => `"${key}"`),
)

const queryTexts = fc.oneof(
  fc.constantFrom(
    '',
    '?limit=200',
    '?text=a',
    '?status=failed',
    '?from=-1h&to=-2h',
    '?code=INTERNAL',
    '?name=%00',
    '?after=x',
  ),
  fc
    .tuple(names, names)
    .map(([name, value]) => `?${encodeURIComponent(name.toWellFormed())}=${encodeURIComponent(value.toWellFormed())}`),
  long.map((length) => `?text=${'a'.repeat(Math.min(length, 12_000))}`),
)

/** Calls of the service, by who makes them. `paths`: of the management API, with ids in place of parameters. */
function callsOf(paths: readonly string[], ids: readonly string[]): Readonly<Record<Caller, fc.Arbitrary<Call>>> {
  const id = fc.constantFrom(...ids, '0'.repeat(24), 'x')
  const post = (path: string, bodies: fc.Arbitrary<string>) =>
    bodies.map((body): Call => ({ port: 'admin', method: 'POST', path, type: JSON_TYPE, body }))
  const suggestions = fc.oneof(
    hostileBodies.map((sample) =>
      JSON.stringify({ source: { body: sample, contentType: JSON_TYPE }, target: { sample } }),
    ),
    long.map((length) => {
      const properties = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`p${at}`, { $ref: '#/$defs/far' }]))
      const schema = { type: 'object', properties, $defs: { far: { $ref: `#${'/a'.repeat(length)}` } } }
      return JSON.stringify({ source: { body: { p1: 1 } }, target: { schema } })
    }),
    jsonText,
  )
  const hostileDocuments = fc
    .tuple(fc.constantFrom(...HOSTILE), fc.nat(PUBLISHED - 1))
    .map(([{ expression, schema }, at]) =>
      JSON.stringify({
        name: `hostile ${at}`,
        endpoint: { pattern: `/hostile-${at}` },
        transformation: { input: 'JSON', output: 'JSON' },
        ...(expression === undefined
          ? {}
          : { inputTransforms: { x: expression }, inputMapping: { 'transforms.x': 'x' } }),
        ...(schema === undefined ? {} : { inputValidation: schema }),
      }),
    )
  const tests = fc.tuple(many, hostileBodies).map(([count, body]) =>
    JSON.stringify({
      tests: [
        {
          name: 't',
          given: { message: { body } },
          expect: { answer: { body: { $contains: Array.from({ length: count }, () => 1) } } },
        },
      ],
    }),
  )
  const change = (method: string, more = '', bodies = fc.oneof(hostileDocuments, documentTexts)) =>
    fc
      .tuple(id, bodies)
      .map(([one, body]): Call => ({ port: 'admin', method, path: `/endpoints/${one}${more}`, type: JSON_TYPE, body }))
  return {
    viewer: fc.oneof(
      {
        weight: 6,
        arbitrary: fc
          .tuple(fc.constantFrom(...paths), queryTexts)
          .map(([path, query]): Call => ({ port: 'admin', method: 'GET', path: `${path}${query}` })),
      },
      { weight: 2, arbitrary: post('/endpoints/suggest', suggestions) },
      {
        weight: 1,
        arbitrary: fc.constantFrom(...paths).map((path): Call => ({ port: 'message', method: 'GET', path })),
      },
    ),
    author: fc.oneof(
      post('/endpoints', fc.oneof(hostileDocuments, documentTexts)),
      change('PUT'),
      change('PATCH'),
      post('/endpoints/dry-run', dryRunTexts),
      post(
        '/endpoints/dry-run',
        fc
          .tuple(hostileDocuments, hostileBodies, fc.constantFrom(undefined, 'mapping'))
          .map(([endpoint, body, view]) => JSON.stringify({ endpoint: JSON.parse(endpoint), message: { body }, view })),
      ),
      change('PUT', '/tests', tests),
      post(
        '/endpoints/batch',
        fc
          .tuple(fc.array(hostileDocuments, { minLength: 1, maxLength: 20 }), fc.boolean())
          .map(([documents, dryRun]) => {
            const operations = documents.map((text) => ({ op: 'create', document: JSON.parse(text) }))
            return JSON.stringify({ dryRun, operations })
          }),
      ),
      id.map((one): Call => ({ port: 'message', method: 'DELETE', path: `/endpoints/${one}` })),
    ),
    sender: fc.oneof(
      fc
        .tuple(fc.nat(PUBLISHED - 1), hostileBodies)
        .map(
          ([at, body]): Call => ({ port: 'message', method: 'POST', path: `/hostile-${at}`, type: JSON_TYPE, body }),
        ),
      fc
        .tuple(fc.constantFrom('/each', '/state', '/copies'), hostileBodies)
        .map(([path, body]): Call => ({ port: 'message', method: 'POST', path, type: JSON_TYPE, body })),
      fc
        .tuple(keys, hostileBodies)
        .map(([key, body]): Call => ({ port: 'message', method: 'POST', path: '/keyed', type: JSON_TYPE, body, key })),
      hostileXml.map(
        (body): Call => ({ port: 'message', method: 'POST', path: '/xml', type: 'application/xml', body }),
      ),
      bytesNear(jsonText).map(
        (body): Call => ({ port: 'message', method: 'POST', path: '/each', type: JSON_TYPE, body: Buffer.from(body) }),
      ),
      names.map(
        (name): Call => ({ port: 'message', method: 'GET', path: `/${encodeURIComponent(name.toWellFormed())}` }),
      ),
    ),
  }
}

/** Endpoints that anybody may write for good reasons, and whose messages can be made costly. */
const documentsTo = (upstream: string) => {
  const json = { input: 'JSON', output: 'JSON' }
  const lookup = [
    {
      id: 'wards',
      forEach: { items: 'requestBody.items', concurrency: 20 },
      config: { method: 'get', url: `${upstream}/large`, params: { query: { ward: { path: 'requestBody.ward' } } } },
    },
  ]
  const extract = Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`copy${at}`, 'ward']))
  return [
    {
      name: 'others',
      endpoint: { pattern: '/others' },
      transformation: json,
      inputMapping: { 'requestBody.id': 'id' },
    },
    { name: 'each', endpoint: { pattern: '/each' }, transformation: json, requests: { lookup } },
    {
      name: 'state',
      endpoint: { pattern: '/state' },
      transformation: json,
      state: { extract: { requestBody: extract } },
    },
    {
      name: 'copies',
      endpoint: { pattern: '/copies' },
      transformation: { input: 'JSON', output: 'XML' },
      inputMapping: { requestBody: Array.from({ length: 100 }, (_, at) => `copy${at}`) },
    },
    { name: 'keyed', endpoint: { pattern: '/keyed' }, transformation: json, idempotency: {} },
    { name: 'xml', endpoint: { pattern: '/xml' }, transformation: { input: 'XML', output: 'JSON' } },
  ]
}

export async function runHostileCallers(seconds: number, seed: number): Promise<HostileCallersReport> {
  const folder = mkdtempSync(join(tmpdir(), 'crosswalk-hostile-callers-'))
  const upstream = createServer((_request, response) => {
    response.setHeader('content-type', JSON_TYPE).end(JSON.stringify({ rows: 'x'.repeat(100_000) }))
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const env = { MESSAGE_LOG: 'all', MAX_ENDPOINTS: '200' }
  const service = await startBundled(folder, (seconds + 300) * 1_000, env, true)
  let exited: string | undefined
  service.ended.then(({ code, signal }) => {
    exited = `${code ?? signal}`
  })
  const heap = await readHeapOf(() => service.output.stderr)
  const bearers = await makeKeys(service)
  const tally = createTally()
  try {
    const ids: string[] = []
    for (const document of documentsTo(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`)) {
      const answer = await send(
        service,
        { port: 'admin', method: 'POST', path: '/endpoints', type: JSON_TYPE, body: JSON.stringify(document) },
        bearers.author,
      )
      if (answer.status !== 201) throw new Error(`The document was refused: ${answer.text}`)
      // No one changes the endpoint of the others.
      if (document.name !== 'others') ids.push(JSON.parse(answer.text)._id)
    }
    const calls = callsOf(await readPaths(service, bearers.viewer, ids), ids)
    const resident = [residentMb(service.pid)]
    const heaps = [await heap.usedMb()]
    const probe = startUptimeProbe(service.url)
    const until = performance.now() + seconds * 1_000
    const isRunning = () => performance.now() < until && exited === undefined
    const callers = (Object.keys(CONCURRENCY) as Caller[]).flatMap((caller, kind) =>
      Array.from({ length: CONCURRENCY[caller] }, async (_, at) => {
        // A few at a time: bodies of a megabyte drawn ahead would take the memory of this process.
        for (let round = 0; isRunning(); round += 1) {
          const sampleSeed = seed * 1_000_003 + kind * 10_007 + at * 101 + round
          for (const call of fc.sample(calls[caller], { seed: sampleSeed, numRuns: 5 })) {
            if (!isRunning()) return
            const bearer = caller === 'sender' ? undefined : bearers[caller]
            tally.add(caller, call, await send(service, call, bearer))
          }
        }
      }),
    )
    const others = steady(service, isRunning)
    const dribble = dribbleBodies(service, isRunning)
    const middle = (async () => {
      while (isRunning() && performance.now() < until - seconds * 500) await pause(100)
      resident.push(residentMb(service.pid))
    })()
    const [othersWrong] = await Promise.all([others, dribble, middle, ...callers])
    const uptime = await probe.stop()
    if (exited !== undefined) tally.unexplained.push(`the service ended with ${exited}`)
    else {
      await pause(2_000)
      resident.push(residentMb(service.pid))
      heaps.push(await heap.usedMb())
    }
    return {
      ...tally.report(),
      unexplained: tally.unexplained,
      othersWrong,
      uptime,
      residentMb: resident,
      heapMb: heaps,
    }
  } finally {
    await heap[Symbol.asyncDispose]()
    service.child.kill('SIGKILL')
    await service.ended
    upstream.closeAllConnections()
    upstream.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

type Answer = Readonly<{ status: number; text: string }>

async function send(service: BundledService, call: Call, bearer: string | undefined): Promise<Answer> {
  const base = call.port === 'admin' ? service.adminUrl : service.url
  const headers: Record<string, string> = {}
  if (call.type !== undefined) headers['content-type'] = call.type
  if (bearer !== undefined) headers.authorization = `Bearer ${bearer}`
  if (call.key !== undefined) headers['idempotency-key'] = call.key
  const init = { method: call.method, headers, ...(call.body === undefined ? {} : { body: call.body as string }) }
  try {
    // Event streams do not end by themselves.
    const answer = await fetch(`${base}${call.path}`, {
      ...init,
      signal: AbortSignal.timeout(call.path.startsWith('/events') ? 300 : 60_000),
    })
    return { status: answer.status, text: await answer.text() }
  } catch (error) {
    return {
      status: 0,
      text: error instanceof Error ? `${error.name} ${String(error.cause ?? error.message)}` : String(error),
    }
  }
}

const codeIn = (text: string): string | undefined =>
  /"code":"([A-Z_]+)"|<code>([A-Z_]+)<\/code>/.exec(text)?.slice(1).find(Boolean)

function createTally() {
  const calls: Record<Caller, number> = { viewer: 0, author: 0, sender: 0 }
  const answers: Record<string, number> = {}
  const unexplained: string[] = []
  return {
    unexplained,
    add: (caller: Caller, call: Call, { status, text }: Answer): void => {
      calls[caller] += 1
      const code = codeIn(text.slice(0, 100_000))
      const answer = `${status} ${code ?? ''}`.trim()
      answers[answer] = (answers[answer] ?? 0) + 1
      const isBug = code === undefined || !(code in FAILURES) || code === 'INTERNAL'
      const isExplained = status < 500 ? status !== 0 || /TimeoutError|AbortError/.test(text) : !isBug
      if (!isExplained && unexplained.length < 50) {
        unexplained.push(
          `${caller} ${call.method} ${call.path.slice(0, 120)} ${String(call.body ?? '').slice(0, 300)}: ${status} ${text.slice(0, 300)}`,
        )
      }
    },
    report: () => ({ calls, answers }),
  }
}

async function makeKeys({ adminUrl }: BundledService): Promise<Record<'admin' | 'viewer' | 'author', string>> {
  const made: Record<string, string> = {}
  for (const role of ['admin', 'viewer', 'author']) {
    const authorization = made.admin === undefined ? {} : { authorization: `Bearer ${made.admin}` }
    const answer = await fetch(`${adminUrl}/keys`, {
      method: 'POST',
      headers: { 'content-type': JSON_TYPE, ...authorization },
      body: JSON.stringify({ name: role, roles: [role] }),
    })
    made[role] = ((await answer.json()) as { key: string }).key
  }
  return made as Record<'admin' | 'viewer' | 'author', string>
}

/** Every path of the management API that is read, with ids in place of its parameters. */
async function readPaths({ adminUrl }: BundledService, bearer: string, ids: readonly string[]): Promise<string[]> {
  const answer = await fetch(`${adminUrl}/openapi.json`, { headers: { authorization: `Bearer ${bearer}` } })
  const { paths } = (await answer.json()) as { paths: Record<string, Record<string, unknown>> }
  return Object.entries(paths)
    .filter(([, methods]) => 'get' in methods)
    .map(([path]) => path.replace(/\{id\}/g, ids[0] ?? '0').replace(/\{\w+\}/g, '1'))
}

/** A message of the other endpoint every 20 ms; gives the answers that are wrong. */
async function steady(service: BundledService, isRunning: () => boolean): Promise<string[]> {
  const wrong: string[] = []
  const call: Call = { port: 'message', method: 'POST', path: '/others', type: JSON_TYPE, body: '{"id":1}' }
  while (isRunning()) {
    const { status, text } = await send(service, call, undefined)
    if (!(status === 200 && text === '{"id":1}') && codeIn(text) !== 'OVERLOADED')
      wrong.push(`${status} ${text.slice(0, 200)}`)
    await pause(20)
  }
  return wrong
}

/** Two senders whose bodies arrive in pieces of a few bytes, as long as the service takes them. */
async function dribbleBodies({ url }: BundledService, isRunning: () => boolean): Promise<void> {
  const { hostname, port } = new URL(url)
  const one = async () => {
    while (isRunning()) {
      const socket = connect(Number(port), hostname).on('error', () => {})
      socket.resume()
      socket.write(
        'POST /each HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 900000\r\n\r\n',
      )
      for (let sent = 0; sent < 900_000 && isRunning() && !socket.destroyed && socket.writable; sent += 3) {
        socket.write('   ')
        if (sent % 300 === 0) await pause(1)
      }
      socket.destroy()
    }
  }
  await Promise.all([one(), one()])
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { seconds: { type: 'string', default: '600' }, seed: { type: 'string', default: '1' } },
  })
  const report = await runHostileCallers(Number(values.seconds), Number(values.seed))
  const { calls, answers, unexplained, othersWrong, uptime, residentMb: resident, heapMb } = report
  const rounded = (list: readonly number[]) => list.map((one) => one.toFixed(0)).join(', ')
  process.stdout.write(
    `${JSON.stringify(calls)} calls; /uptime p50 ${uptime.p50Ms.toFixed(1)}, p99 ${uptime.p99Ms.toFixed(1)}, longest ${uptime.maxMs.toFixed(0)} ms; ` +
      `resident ${rounded(resident)} MB; heap ${rounded(heapMb)} MB; ${JSON.stringify(answers)}\n`,
  )
  for (const line of [...unexplained, ...othersWrong.slice(0, 20)]) process.stdout.write(`  wrong: ${line}\n`)
  const [before = 0, after = Number.POSITIVE_INFINITY] = heapMb
  if (unexplained.length + othersWrong.length > 0 || uptime.p99Ms > 50 || after - before > 64) process.exitCode = 1
}
