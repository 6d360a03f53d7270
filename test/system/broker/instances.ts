/** Two instances of the service with the same endpoint, each a process of its own. */
import { cpSync, mkdirSync } from 'node:fs'
import type { JsonObject } from '../../../src/core/json.ts'
import type { ConsumerStatus } from '../../../src/inbound/kafka/endpoint-consumers.ts'
import { endpointDocument, json } from '../../support/service.ts'
import { type SpawnedService, spawnService } from '../../support/spawned-service.ts'

/** Registers the endpoint once and gives both folders the same store, as if their instances shared one. */
export async function registerInBoth(
  [first, second]: readonly [string, string],
  changes: JsonObject,
  env: Record<string, string>,
): Promise<string> {
  mkdirSync(first, { recursive: true })
  const instance = await spawnService(first, { env })
  const reply = await fetch(`${instance.url}/endpoints`, json('POST', endpointDocument(changes)))
  const { _id } = (await reply.json()) as { _id: string }
  instance.child.kill('SIGTERM')
  await instance.ended
  cpSync(first, second, { recursive: true })
  return _id
}

/** What the only consumer of an instance says of itself. */
export async function statusOf({ adminUrl }: SpawnedService): Promise<ConsumerStatus | undefined> {
  const [status] = (await (await fetch(`${adminUrl}/consumers`)).json()) as ConsumerStatus[]
  return status
}
