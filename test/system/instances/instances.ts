/** Several instances of the service, each a process of its own, on one PostgreSQL. */
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { Json, JsonObject } from '../../../src/core/json.ts'
import { endpointDocument, json, type StoredEndpoint } from '../../support/service.ts'
import { freshDatabase, postgresMissing, type TestDatabase } from '../../support/services/postgres.ts'
import { freshFolder, type SpawnedService, spawnService } from '../../support/spawned-service.ts'
import { until as poll } from '../../support/until.ts'

/** For the options of a test: skips it where there is no PostgreSQL. */
export const needsPostgres = { skip: postgresMissing() ?? false }

export type Answer = Readonly<{ status: number; headers: Headers; body: JsonObject }>

export type Instance = SpawnedService &
  Readonly<{
    ask(method: string, path: string, body?: Json): Promise<Answer>
    /** Registers a document; fails where it is refused. */
    register(document: JsonObject): Promise<StoredEndpoint>
    ready(): Promise<Answer>
  }>

/**
 * An instance that ends before its database does; fails the test where it does not end cleanly. `env` may name another
 * way to the database.
 */
export async function startInstance(
  test: TestContext,
  database: TestDatabase,
  env: Readonly<Record<string, string>> = {},
): Promise<Instance> {
  const service = await spawnService(freshFolder(test), {
    env: { DATABASE_URL: database.url, ...env },
    lifetimeMs: 180_000,
  })
  database.uses(async () => {
    service.child.kill('SIGTERM')
    assert.deepEqual(await service.ended, { code: 0, signal: null }, service.output.stdout)
  })
  const ask = (method: string, path: string, body?: Json) => call(`${service.url}${path}`, json(method, body))
  return {
    ...service,
    ask,
    register: async (document) => {
      const { status, body } = await ask('POST', '/endpoints', endpointDocument(document))
      assert.equal(status, 201, JSON.stringify(body))
      return body as StoredEndpoint
    },
    ready: () => call(`${service.adminUrl}/health/ready`, {}),
  }
}

export async function startInstances(test: TestContext, count: number): Promise<Instance[]> {
  const database = await freshDatabase(test)
  return Promise.all(Array.from({ length: count }, () => startInstance(test, database)))
}

async function call(url: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url, init)
  return { status: response.status, headers: response.headers, body: (await response.json()) as JsonObject }
}

/** Resolves to the milliseconds until `holds`, asked again and again; fails after `limitMs`. */
export async function until(what: string, limitMs: number, holds: () => boolean | Promise<boolean>): Promise<number> {
  const startedAt = performance.now()
  await poll(holds, (isSo) => isSo, limitMs).catch((thrown: Error) => {
    throw new Error(what, { cause: thrown })
  })
  return performance.now() - startedAt
}
