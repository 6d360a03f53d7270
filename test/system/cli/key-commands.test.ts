/** `keys create|list|revoke` as they are typed, beside a service that runs and obeys at once. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { MIGRATIONS } from '../../../src/store/sql/migrations.ts'
import { call } from '../../support/inbound/http/management/call.ts'
import { freshDatabase, postgresMissing } from '../../support/services/postgres.ts'
import { freshFolder, spawnService, startProgram } from '../../support/spawned-service.ts'
import { lookInto } from '../../support/store/folder.ts'

const KEY = /^cwk_([0-9a-f]{16})_[\w-]{43}\n$/

async function run(folder: string, args: readonly string[], env: Record<string, string> = {}) {
  const { output, ended } = startProgram(folder, { args: ['keys', ...args], env })
  const { code } = await ended
  return { code, ...output }
}

const stores = [
  {
    name: 'SQLite',
    skip: false as string | false,
    url: async () => 'sqlite:./keys.db',
    shown: (folder: string) => `sqlite:${join(folder, 'keys.db')}`,
  },
  {
    name: 'PostgreSQL',
    skip: postgresMissing() ?? false,
    url: async (t: Parameters<typeof freshDatabase>[0]) => (await freshDatabase(t)).url,
    shown: (_folder: string, url: string) => `postgres://${new URL(url).host}${new URL(url).pathname}`,
  },
]

for (const { name, skip, url, shown } of stores) {
  test(`keys are made, listed and revoked beside a running service, on ${name}`, { skip }, async (t) => {
    const folder = freshFolder(t)
    const env = { DATABASE_URL: await url(t as never), LOG_LEVEL: 'info' }
    const store = shown(folder, env.DATABASE_URL)
    for (const args of [['list'], ['revoke', 'x']]) {
      const none = await run(folder, args, env)
      const says = `crosswalk: There is no store at ${store}. Give its DATABASE_URL, or run this in the folder of the service.\n`
      assert.deepEqual([none.code, none.stdout, none.stderr], [3, '', says])
    }
    const service = await spawnService(folder, { env, lifetimeMs: 240_000 })
    const statusOf = async (key?: string) => {
      const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` }
      return (await call(service.adminUrl, 'GET', '/audit', { headers })).status
    }
    try {
      assert.equal(await statusOf(), 200, 'without keys, this machine manages')
      const empty = await run(folder, ['list'], env)
      assert.deepEqual([empty.stdout, empty.stderr], ['There are no keys.\n', `Store: ${store}\n`])

      const made = await run(folder, ['create', '--name', 'ann', '--role', 'admin'], env)
      assert.equal(made.code, 0, made.stderr)
      assert.match(made.stdout, KEY)
      assert.match(
        made.stderr,
        /^Store: (\S+)\n.*\nFrom now on every management call to a service on this store needs a key\.\n$/,
      )
      assert.ok(made.stderr.startsWith(`Store: ${store}\n`))
      const key = made.stdout.trim()
      const [, id = ''] = KEY.exec(made.stdout) ?? []
      assert.ok(!made.stderr.includes(key))
      assert.equal(await statusOf(), 401, 'from then on a key is asked for')
      assert.equal(await statusOf(key), 200)

      const list = await run(folder, ['list'], env)
      assert.match(list.stdout, new RegExp(`^${id}\\tadmin\\t[^\\t]+\\tgood\\tann\\n$`))
      const second = (await run(folder, ['create', '--name', 'b', '--role', 'viewer', 'author'], env)).stdout.trim()
      assert.equal(await statusOf(second), 403)

      assert.equal((await run(folder, ['revoke', id], env)).stdout, `Key ${id} is revoked.\n`)
      assert.equal(await statusOf(key), 401, 'a revoked key stops working at once')
      const again = await run(folder, ['revoke', id], env)
      const says = `Store: ${store}\ncrosswalk: The key '${id}' is revoked already.\n`
      assert.deepEqual([again.code, again.stderr], [3, says])
      assert.match((await run(folder, ['revoke', 'x'], env)).stderr, /\ncrosswalk: There is no key 'x'\.\n$/)
      assert.match((await run(folder, ['list'], env)).stdout, new RegExp(`^${id}\\tadmin\\t[^\\t]+\\trevoked `))

      const last = (await run(folder, ['create', '--name', 'c', '--role', 'admin'], env)).stdout.trim()
      const audit = await call(service.adminUrl, 'GET', '/audit?what=keys%20create&what=keys%20revoke', {
        headers: { authorization: `Bearer ${last}` },
      })
      const { entries } = audit.json<{ entries: { who: string; what: string; target: string }[] }>()
      assert.deepEqual(
        entries.map(({ what }) => what),
        ['keys create', 'keys revoke', 'keys create', 'keys create'],
      )
      assert.ok(entries.every(({ who }) => who.startsWith('command:')))
      for (const one of [key, second, last]) assert.ok(!(service.output.stdout + audit.text).includes(one.slice(-43)))
    } finally {
      service.child.kill('SIGTERM')
      await service.ended
    }
  })
}

describe('what is wrong is reported in a line', () => {
  const cases = [
    {
      args: ['create', '--name', 'a', '--role', 'amdin'],
      reported: /^crosswalk: There is no role "amdin"; did you mean "admin"\?/,
    },
    { args: ['create', '--name', ' ', '--role', 'admin'], reported: /^crosswalk: A key has a name/ },
    {
      args: ['create', '--name', 'a', '--role', 'admin'],
      env: { DATABASE_URL: 'sqlite::memory:' },
      reported:
        /^crosswalk: DATABASE_URL keeps everything in memory, which ends with this command; name the store of the service\.\n$/,
    },
  ]
  for (const { args, env, reported } of cases) {
    test(args.join(' '), async (t) => {
      const { code: exited, stdout, stderr } = await run(freshFolder(t), args, env)
      assert.deepEqual([exited, stdout], [3, ''])
      assert.match(stderr, reported)
    })
  }

  test('a service of another version is left alone', async (t) => {
    const folder = freshFolder(t)
    const env = { DATABASE_URL: 'sqlite:./keys.db' }
    const service = await spawnService(folder, { env, lifetimeMs: 120_000 })
    try {
      lookInto(join(folder, 'keys.db'), (db) =>
        db.exec(`delete from schema_version where version = ${MIGRATIONS.length}`),
      )
      const { code, stderr } = await run(folder, ['list'], env)
      assert.equal(code, 3)
      assert.match(stderr, /^crosswalk: .* is of another version/)
    } finally {
      service.child.kill('SIGTERM')
      await service.ended
    }
  })
})
