/** The web console: how its files are served, and how it talks to the service. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { startServiceWithKeys } from '../access/service-with-keys.ts'
import { endpointDocument, type Service, startService } from '../service.ts'

type Answer = Readonly<{
  status: number
  body: { _id: string; name: string }
  etag: string
  warnings: readonly { path: string; message: string }[]
  error: string | undefined
  details: readonly { path: string; message: string }[]
}>
type Api = Readonly<{
  read(id: string): Promise<Answer>
  create(text: string): Promise<Answer>
  replace(id: string, text: string, etag: string): Promise<Answer>
  remove(id: string, etag: string): Promise<Answer>
  uptime(): Promise<Answer>
}>

/** Modules of the console are plain JavaScript: their types are said where they are used. */
const load = async <T>(name: string): Promise<T> => (await import(`../../console/${name}`)) as T
type Keyring = Readonly<{
  get(): string | undefined
  ask(refused: string | undefined, why: string): Promise<string | undefined>
}>
const { createApi } = await load<{ createApi(baseUrl: string, keyring?: Keyring): Api }>('api.js')
const { TEMPLATE, textOf } = await load<{ TEMPLATE: string; textOf(document: object): string }>('document-text.js')

const folder = new URL('../../console/', import.meta.url)
const files = readdirSync(folder)
const read = (name: string): string => readFileSync(new URL(name, folder), 'utf8')
const urlOf = (name: string): string => (name === 'index.html' ? '/' : `/console/${name}`)

let service: Service
before(async () => {
  service = await startService()
})
after(() => service.stop())

const get = (path: string, init?: RequestInit) => fetch(`${service.adminUrl}${path}`, { redirect: 'manual', ...init })

/** A request whose path is sent as it is written; fetch would resolve its dots. */
const getAsWritten = (path: string): Promise<{ status: number; text: string }> =>
  new Promise((resolve, reject) => {
    const call = request(service.adminUrl, { path, agent: false }, async (response) => {
      let text = ''
      for await (const chunk of response.setEncoding('utf8')) text += chunk
      resolve({ status: response.statusCode ?? 0, text })
    })
    call.on('error', reject).end()
  })

describe('the files of the console', () => {
  const types: Record<string, string> = {
    html: 'text/html; charset=utf-8',
    css: 'text/css; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    svg: 'image/svg+xml',
  }
  for (const name of files) {
    test(`${name} is served as what it is`, async () => {
      const response = await get(urlOf(name))
      assert.equal(response.status, 200)
      assert.equal(await response.text(), read(name))
      assert.equal(response.headers.get('content-type'), types[name.split('.').at(-1) as string])
      assert.equal(response.headers.get('x-content-type-options'), 'nosniff')
      assert.equal(response.headers.get('cache-control'), 'no-cache')
    })
  }

  test('may do nothing but run their own scripts and call their own origin', async () => {
    for (const name of files) {
      const policy = (await get(urlOf(name))).headers.get('content-security-policy') ?? ''
      const directives = new Map(policy.split('; ').map((one) => one.split(/ (.*)/, 2) as [string, string]))
      assert.deepEqual(Object.fromEntries(directives), {
        'default-src': "'none'",
        'script-src': "'self'",
        'style-src': "'self'",
        'img-src': "'self'",
        'connect-src': "'self'",
        'base-uri': "'none'",
        'form-action': "'none'",
        'frame-ancestors': "'none'",
        'require-trusted-types-for': "'script'",
        'trusted-types': "'none'",
      })
    }
  })

  const conditions = [
    { name: 'the same', tag: (etag: string) => etag, status: 304 },
    { name: 'a weak one', tag: (etag: string) => `W/${etag}`, status: 304 },
    { name: 'one of several', tag: (etag: string) => `"other", ${etag}`, status: 304 },
    { name: 'any', tag: () => '*', status: 304 },
    { name: 'another', tag: () => '"other"', status: 200 },
    { name: 'the start of it', tag: (etag: string) => etag.slice(0, -2), status: 200 },
  ]
  for (const { name, tag, status } of conditions) {
    test(`answer ${status} where the browser has ${name}`, async () => {
      const first = await get('/console/console.js')
      const whole = await first.text()
      const etag = first.headers.get('etag') as string
      assert.match(etag, /^"[\w-]+"$/)
      const second = await get('/console/console.js', { headers: { 'if-none-match': tag(etag) } })
      assert.equal(second.status, status)
      assert.equal(second.headers.get('etag'), etag)
      assert.equal(await second.text(), status === 200 ? whole : '')
    })
  }

  test('have ETags of their own', async () => {
    const etags = await Promise.all(files.map(async (name) => (await get(urlOf(name))).headers.get('etag')))
    assert.equal(new Set(etags).size, files.length)
  })

  const outside = [
    '/console',
    '/console/',
    '/console/nothing.js',
    '/console/index.html/',
    '/console/console.js/',
    '/console/console.js%00',
    '/console/__proto__',
    '/console/../package.json',
    '/console/%2e%2e/package.json',
    '/console/..%2fpackage.json',
    '/console/..%5cpackage.json',
    '/console/..;/package.json',
    '/console//etc/passwd',
    '//console/../../package.json',
    '/../package.json',
  ]
  for (const path of outside) {
    test(`do not include ${path}`, async () => {
      const { status, text } = await getAsWritten(path)
      assert.equal(status, 404)
      assert.equal(JSON.parse(text).code, 'ROUTE_UNKNOWN')
    })
  }

  test('are read only', async () => {
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const response = await get('/', { method })
      assert.equal(response.status, 405)
      assert.equal(response.headers.get('allow'), 'GET, HEAD')
    }
    const head = await get('/', { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('content-length'), `${Buffer.byteLength(read('index.html'))}`)
  })

  test('are not on the message port, whose paths belong to endpoints', async () => {
    for (const name of files) assert.equal((await service.fetch(urlOf(name))).status, 404)
  })

  test('refer to each other and to nothing else', () => {
    const referred = new Set(['index.html'])
    for (const [, target] of read('index.html').matchAll(/\s(?:href|src)="(?!#)([^"]*)"/g)) {
      assert.match(target as string, /^console\//)
      referred.add((target as string).slice('console/'.length))
    }
    for (const name of files.filter((one) => one.endsWith('.js'))) {
      for (const [, target] of read(name).matchAll(/^import .* from '\.\/([^']*)'$/gm)) referred.add(target as string)
    }
    assert.deepEqual([...referred].sort(), [...files].sort())
  })

  test('hold no inline script or style, and write no HTML from text', () => {
    assert.doesNotMatch(read('index.html'), /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/)
    for (const name of files.filter((one) => one.endsWith('.js'))) {
      assert.doesNotMatch(read(name), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b/, name)
    }
  })
})

describe('a service that wants a key', () => {
  /** What the page's keyring does, with a person who gives these keys one after the other. */
  const personWith = (...keys: string[]) => {
    let kept: string | undefined
    const reasons: string[] = []
    const ask = async (_refused: string | undefined, why: string) => {
      reasons.push(why)
      kept = keys.shift()
      return kept
    }
    return { get: () => kept, ask, reasons }
  }

  test('is given one: it is asked for until it is right, and then no more', async (t) => {
    const withKeys = await startServiceWithKeys()
    t.after(() => withKeys.service.stop())
    const person = personWith('wrong', withKeys.keys.author)
    const api = createApi(`${withKeys.service.adminUrl}/`, person)
    const created = await api.create(JSON.stringify(endpointDocument({ endpoint: { pattern: '/by-key' } })))
    assert.equal(created.status, 201)
    assert.equal((await api.read(created.body._id)).status, 200)
    assert.equal(person.reasons.length, 2)
    assert.match(person.reasons[1] ?? '', /not known/)
    const refusing = personWith()
    const refused = await createApi(`${withKeys.service.adminUrl}/`, refusing).read(created.body._id)
    assert.deepEqual([refused.status, refusing.reasons.length], [401, 1])
    assert.match(refused.error ?? '', /needs an API key/)
    // The page itself, and how the service is, need none.
    assert.equal((await fetch(withKeys.service.adminUrl)).status, 200)
    assert.equal((await createApi(`${withKeys.service.adminUrl}/`).uptime()).status, 200)
  })
})

describe('the calls of the console', () => {
  const text = (changes: Parameters<typeof endpointDocument>[0]) => JSON.stringify(endpointDocument(changes))

  test('store the example of a new document as it stands', async () => {
    const created = await createApi(`${service.adminUrl}/`).create(TEMPLATE)
    assert.equal(created.error, undefined)
    assert.deepEqual(created.warnings, [])
  })

  test('never overwrite or delete what another user stored meanwhile', async () => {
    const api = createApi(`${service.adminUrl}/`)
    const { body, etag } = await api.create(text({ endpoint: { pattern: '/console/mine' } }))
    const mine = textOf({ ...body, description: 'mine' })
    const theirs = await api.replace(body._id, textOf({ ...body, description: 'theirs' }), etag)
    assert.equal(theirs.status, 200)
    assert.equal((await api.replace(body._id, mine, etag)).status, 412)
    assert.equal((await api.remove(body._id, etag)).status, 412)
    assert.deepEqual((await api.read(body._id)).body, theirs.body)
    assert.equal((await api.replace(body._id, mine, theirs.etag)).status, 200)
  })

  test('give every fault with its path', async () => {
    const refused = await createApi(`${service.adminUrl}/`).create('{"name": 1, "nonsense": 2}')
    assert.equal(refused.status, 400)
    assert.match(refused.error as string, /nothing was stored/)
    const paths = refused.details.map(({ path }) => path)
    for (const path of ['name', 'nonsense']) assert.ok(paths.includes(path), path)
  })

  test('give warnings, in whatever characters', async () => {
    const output = { transformation: { input: 'JSON', output: 'XML' }, inputMapping: { 'requestBody.a': 'β γ' } }
    const saved = await createApi(`${service.adminUrl}/`).create(text({ endpoint: { pattern: '/warned' }, ...output }))
    assert.equal(saved.status, 201)
    assert.deepEqual(
      saved.warnings.map(({ path }) => path),
      ['inputMapping.requestBody\\.a'],
    )
    assert.match(saved.warnings[0]?.message as string, /β γ/)
  })

  test('say so where nothing answers', async () => {
    const { status, error } = await createApi('http://127.0.0.1:1/').uptime()
    assert.deepEqual({ status, error }, { status: 0, error: 'The service does not answer.' })
  })

  test('show a document without what the service sets, whatever its names', () => {
    const stored = JSON.parse('{"_id":"1","name":"a","__proto__":{"b":1},"createdAt":"c","updatedAt":"d","__v":0}')
    assert.equal(textOf(stored).replace(/\s/g, ''), '{"name":"a","__proto__":{"b":1}}')
  })
})
