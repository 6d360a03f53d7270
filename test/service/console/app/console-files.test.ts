/** The files of the console: which URLs have the page, how its parts are served, and that a request reaches nothing else. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { BUILT, updateConsole } from '../../../../scripts/console/console-build.ts'
import { startServiceWithKeys } from '../../../support/api/access/service-with-keys.ts'
import { type Service, startService } from '../../../support/service.ts'

let service: Service
let assets: readonly string[]
before(async () => {
  await updateConsole()
  assets = readdirSync(`${BUILT}/assets`).filter((name) => /\.(?:js|css|svg)$/.test(name))
  service = await startService()
})
after(() => service.stop())

const get = (path: string, init?: RequestInit) => fetch(`${service.adminUrl}${path}`, { redirect: 'manual', ...init })

type Exchange = Readonly<{ status: number; headers: Record<string, string | string[] | undefined>; body: Buffer }>

/** A request whose path and headers are sent as they are written; fetch would resolve dots and decode the body. */
const getAsWritten = (path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Exchange> =>
  new Promise((resolve, reject) => {
    const call = request(service.adminUrl, { path, headers, method, agent: false }, async (response) => {
      const chunks: Buffer[] = []
      for await (const chunk of response) chunks.push(chunk as Buffer)
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) })
    })
    call.on('error', reject).end()
  })

const policyOf = (headers: Headers) =>
  Object.fromEntries(
    (headers.get('content-security-policy') ?? '').split('; ').map((one) => one.split(/ (.*)/, 2) as [string, string]),
  )

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'img-src': "'self'",
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
  'require-trusted-types-for': "'script'",
  'trusted-types': "'none'",
}

describe('the page', () => {
  const paths = [
    '/console/',
    '/console/endpoints',
    '/console/endpoints/0123456789abcdef01234567/edit?message=1',
    '/console/nothing.js',
    '/console/%00',
    '/console//etc/passwd',
  ]
  for (const path of paths) {
    test(`is at ${path}, with a nonce of its own`, async () => {
      const answers = [await get(path), await get(path)] as const
      const nonces = answers.map((answer) => {
        assert.equal(answer.status, 200)
        assert.equal(answer.headers.get('content-type'), 'text/html; charset=utf-8')
        assert.equal(answer.headers.get('cache-control'), 'no-store')
        assert.equal(answer.headers.get('x-content-type-options'), 'nosniff')
        const { 'style-src': styles = '', ...policy } = policyOf(answer.headers)
        assert.deepEqual(policy, POLICY)
        const [, nonce] = /^'self' 'nonce-([\w-]{22})'$/.exec(styles) ?? assert.fail(styles)
        return nonce as string
      })
      assert.notEqual(nonces[0], nonces[1])
      const text = await answers[0].text()
      assert.ok(text.includes(`<meta property="csp-nonce" nonce="${nonces[0]}">`))
      // Nothing in it needs the nonce: scripts and styles are files.
      assert.doesNotMatch(text, /<script(?![^>]* src=)|<style|\son\w+=|\sstyle=|%STYLE_NONCE%/)
    })
  }

  for (const path of ['/', '/console']) {
    test(`is where ${path} leads`, async () => {
      const { status, headers } = await get(path)
      assert.deepEqual([status, headers.get('location')], [307, '/console/'])
    })
  }

  test('names only files of the build', async () => {
    const text = await (await get('/console/')).text()
    const named = Array.from(text.matchAll(/\s(?:href|src)="([^"]*)"/g), ([, target]) => target as string)
    assert.ok(named.length >= 3)
    for (const target of named) assert.equal((await get(target)).status, 200, target)
  })

  test('is read only', async () => {
    for (const path of ['/', '/console', '/console/', '/console/endpoints']) {
      for (const method of ['POST', 'PUT', 'DELETE']) {
        const response = await get(path, { method })
        assert.equal(response.status, 405)
        assert.equal(response.headers.get('allow'), 'GET, HEAD')
      }
    }
    const head = await get('/console/', { method: 'HEAD' })
    assert.equal(head.status, 200)
    assert.equal(head.headers.get('content-length'), `${(await (await get('/console/')).text()).length}`)
  })

  test('needs no key: it asks for one itself', async (t) => {
    const withKeys = await startServiceWithKeys()
    t.after(() => withKeys.service.stop())
    for (const path of ['/console/', `/console/assets/${assets[0]}`]) {
      assert.equal((await fetch(`${withKeys.service.adminUrl}${path}`)).status, 200)
    }
  })

  test('is not on the message port, whose paths belong to endpoints', async () => {
    for (const path of ['/', '/console', '/console/', '/console/endpoints', `/console/assets/${assets[0]}`]) {
      assert.equal((await service.fetch(path)).status, 404)
    }
  })
})

describe('the files of the build', () => {
  const TYPES: Readonly<Record<string, string>> = {
    css: 'text/css; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    svg: 'image/svg+xml',
  }
  const pathOf = (name: string) => `/console/assets/${name}`
  const read = (name: string) => readFileSync(`${BUILT}/assets/${name}`)
  const script = () => assets.find((name) => name.endsWith('.js')) as string

  test('are served as what they are, for ever', async () => {
    for (const name of assets) {
      const { status, headers, body } = await getAsWritten(pathOf(name))
      assert.equal(status, 200)
      assert.ok(body.equals(read(name)))
      assert.equal(headers['content-type'], TYPES[name.split('.').at(-1) as string])
      assert.equal(headers['x-content-type-options'], 'nosniff')
      assert.equal(headers['cache-control'], 'public, max-age=31536000, immutable')
      assert.equal(headers.vary, 'accept-encoding')
      assert.equal(headers['content-encoding'], undefined)
    }
  })

  const codings: readonly { accepts: string; coding: string | undefined }[] = [
    { accepts: 'gzip, deflate, br, zstd', coding: 'br' },
    { accepts: 'br;q=0, gzip', coding: 'gzip' },
    { accepts: 'brotli, xgzip', coding: undefined },
  ]
  for (const { accepts, coding } of codings) {
    test(`are sent ${coding === undefined ? 'as they are' : `with ${coding}`} to "${accepts}"`, async () => {
      const { headers, body } = await getAsWritten(pathOf(script()), { 'accept-encoding': accepts })
      assert.equal(headers['content-encoding'], coding)
      const plain = coding === 'br' ? brotliDecompressSync(body) : coding === 'gzip' ? gunzipSync(body) : body
      assert.ok(plain.equals(read(script())))
    })
  }

  const conditions = [
    { name: 'the same', tag: (etag: string) => etag, status: 304 },
    { name: 'any', tag: () => '*', status: 304 },
    { name: 'another', tag: () => '"other"', status: 200 },
  ]
  for (const { name, tag, status } of conditions) {
    test(`are answered ${status} where the browser has ${name}`, async () => {
      const first = await getAsWritten(pathOf(script()))
      const etag = first.headers.etag as string
      assert.match(etag, /^"[\w-]+"$/)
      const second = await getAsWritten(pathOf(script()), { 'if-none-match': tag(etag) })
      assert.equal(second.status, status)
      assert.equal(second.headers.etag, etag)
      assert.ok(second.body.equals(status === 200 ? first.body : Buffer.alloc(0)))
    })
  }

  test('are read only', async () => {
    assert.equal((await get(pathOf(script()), { method: 'POST' })).status, 405)
    const head = await getAsWritten(pathOf(script()), {}, 'HEAD')
    assert.equal(head.headers['content-length'], `${read(script()).length}`)
    assert.equal(head.body.length, 0)
  })

  test('are all that can be had below /console/assets/', async () => {
    const built = script()
    const paths = [
      '/console/assets/',
      '/console/assets/nothing.js',
      `/console/assets/${built}.br`,
      `/console/assets/${built}.gz`,
      `/console/assets/${built}/`,
      `/console/assets/${built}%00`,
      '/console/assets/../index.html',
      '/console/assets/../manifest.json',
      '/console/assets/..%2f..%2f..%2fpackage.json',
      '/console/assets/%2e%2e/%2e%2e/%2e%2e/package.json',
      '/console/assets/..%5c..%5cpackage.json',
      '/console/assets/__proto__',
      '/console/assets//etc/passwd',
    ]
    for (const path of paths) {
      const { status, body } = await getAsWritten(path)
      assert.equal(status, 404, path)
      assert.equal(JSON.parse(body.toString()).code, 'ROUTE_UNKNOWN', path)
    }
    for (const path of ['/console/../package.json', '//console/../../package.json', '/../package.json']) {
      const { body } = await getAsWritten(path)
      assert.doesNotMatch(body.toString(), /devDependencies/)
    }
  })
})
