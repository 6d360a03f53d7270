/** Methods that nothing is done with share one route, TRACE's: each is answered as TRACE is, under its own name. */
import assert from 'node:assert/strict'
import { METHODS, request } from 'node:http'
import { after, before, test } from 'node:test'
import { type Service, startService } from '../../../support/service.ts'

/** CONNECT never reaches a handler of requests. */
const UNROUTED = METHODS.filter(
  (method) => !['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE', 'CONNECT'].includes(method),
)

let service: Service
before(async () => {
  service = await startService()
  await service.register({ endpoint: { pattern: '/mine', method: 'POST' } })
})
after(() => service.stop())

function ask(
  url: string,
  method: string,
): Promise<Readonly<{ status: number | undefined; allow: string; body: string }>> {
  return new Promise((resolve, reject) => {
    request(url, { method, agent: false }, (answer) => {
      let body = ''
      answer.on('data', (chunk) => {
        body += chunk
      })
      // The id of a message is its own.
      answer.on('end', () =>
        resolve({
          status: answer.statusCode,
          allow: answer.headers.allow ?? '',
          body: body.replace(/[0-9a-f]{24}"/, '"'),
        }),
      )
    })
      .on('error', reject)
      .end()
  })
}

const cases = [
  { at: 'url', path: '/endpoints' },
  { at: 'url', path: '/endpoints/0123456789abcdef01234567' },
  { at: 'url', path: '/endpoints/0/1/2' },
  { at: 'url', path: '/uptime' },
  { at: 'url', path: '/mine' },
  { at: 'url', path: '/nowhere' },
  { at: 'adminUrl', path: '/keys' },
  { at: 'adminUrl', path: '/nowhere' },
] as const
for (const { at, path } of cases) {
  test(`${at === 'url' ? 'the message port' : 'the admin port'}: ${path}`, async () => {
    const url = service[at] + path
    const plain = await ask(url, 'TRACE')
    assert.ok(plain.status === 404 || plain.status === 405)
    for (const method of UNROUTED) {
      const { body, ...rest } = await ask(url, method)
      const asTrace = { ...rest, body: body.replace(new RegExp(`(?<= )${method}(?=[ ,])`), 'TRACE') }
      assert.deepEqual(asTrace, plain, method)
    }
  })
}
