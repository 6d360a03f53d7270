/** What commands print and write never has a secret. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/core/json.ts'
import { projectRig } from '../../../support/cli/deployment/deployment-rig.ts'
import { json, startService } from '../../../support/service.ts'

let count = 0
const canary = (): string => {
  count += 1
  return `canary${count}x`
}

/** Twenty credentials, each at another place. */
const credentials = (): JsonObject => ({
  constants: {
    apiKey: canary(),
    nested: { password: canary(), list: [{ clientSecret: canary() }] },
    database: `postgres://user:${canary()}@db.test/x`,
    header: `Bearer ${canary()}`,
    link: `http://host.test/?access_token=${canary()}`,
    tokens: [canary(), canary()],
  },
  requests: {
    lookup: [
      {
        id: 'one',
        config: {
          url: `http://host.test/?api_key=${canary()}&b=${1}&sig=${canary()}`,
          headers: {
            Authorization: `Basic ${canary()}`,
            Cookie: canary(),
            'X-Api-Key': canary(),
            Other: `Bearer ${canary()}`,
          },
          params: { query: { token: { path: 'requestBody.a', prefix: canary(), postfix: canary() } } },
        },
      },
    ],
    response: [
      {
        id: 'two',
        config: { url: `http://host.test/two?token=${canary()}`, headers: { 'x-subscription-key': canary() } },
      },
      {
        id: 'three',
        config: { url: 'http://host.test/', headers: { 'Proxy-Authorization': canary(), 'X-Auth-Token': canary() } },
      },
    ],
  },
})

test('20 credentials of stored documents and files are in no output, plan or pulled file', async (context) => {
  const service = await startService()
  context.after(() => service.stop())
  const key = await (await fetch(`${service.adminUrl}/keys`, json('POST', { name: 'ci', roles: ['admin'] }))).json()
  const env = { CROSSWALK_KEY: String((key as JsonObject).key) }
  const plain = { name: 'Plain', endpoint: { pattern: '/plain' }, transformation: { input: 'JSON', output: 'JSON' } }
  const rig = projectRig(context, service.url, { plain })
  const run: typeof rig.run = (command, options, more) => rig.run(command, options, { env, ...more })
  assert.equal((await run('apply', { yes: true })).code, 0)

  // Others change the endpoint and its credentials.
  const bearer = { authorization: `Bearer ${env.CROSSWALK_KEY}` }
  const [endpoint] = (await service.fetch('/endpoints', { headers: bearer })).json<JsonObject[]>()
  const put = await service.fetch(`/endpoints/${endpoint?._id}`, json('PUT', { ...endpoint, ...credentials() }, bearer))
  assert.equal(put.status, 200, put.text)
  assert.equal(count, 20)

  // A file has credentials of its own.
  const outputs = [await run('diff', {}), await run('diff', { json: true })]
  rig.write('endpoints/plain.json', { ...plain, ...credentials() })
  outputs.push(
    await run('diff', {}),
    await run('diff', { json: true }),
    await run('apply', { plan: join(rig.folder, 'plan.json') }),
  )
  outputs.push(await run('apply', { json: true }, { answer: 'no' }), await run('pull', { json: true, target: 'test' }))
  rig.write('endpoints/plain.json', plain)
  const pulled = await run('pull', {})
  outputs.push(pulled, await run('diff', {}))
  assert.equal(pulled.code, 1, pulled.stderr)
  assert.match(
    pulled.stderr,
    /constants\.apiKey: The service holds a credential here; the file has \$\{env:CROSSWALK_SECRET_/,
  )

  const plan = JSON.stringify(rig.read('plan.json'))
  const texts = [...outputs.map(({ stdout, stderr }) => stdout + stderr), plan, ...Object.values(rig.files())]
  for (const text of texts) {
    assert.doesNotMatch(text, /canary/)
    assert.ok(!text.includes(env.CROSSWALK_KEY))
  }
  assert.ok(texts.some((text) => text.includes('[redacted]')))

  // The references of the file stay; what else differs is applied as it is there.
  const references = JSON.stringify(rig.files()).match(/\$\{env:CROSSWALK_SECRET_[A-Z0-9_]+\}/g) ?? []
  assert.equal(new Set(references).size, 20)
  const again = await run('pull', {})
  assert.equal(again.code, 0, again.stderr)
})
