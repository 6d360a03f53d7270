/** A service with keys of every kind, and calls as they come with and without them. */
import assert from 'node:assert/strict'
import { networkInterfaces } from 'node:os'
import { ROLES, type Role } from '../../../../src/core/access.ts'
import { type Called, type CallOptions, call } from '../../inbound/http/management/call.ts'
import { type Service, startService } from '../../service.ts'

/** An address of this machine that is not its loopback: calls to it come from it. */
export const ELSEWHERE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.family === 'IPv4' && !one.internal)?.address

export type Port = 'message' | 'admin'

export type ServiceWithKeys = Readonly<{
  service: Service
  /** A good key of each role, and one that is revoked. */
  keys: Readonly<Record<Role | 'revoked', string>>
  baseUrl(port: Port, host?: string): string
}>

export const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` })

export const JSON_TYPE = { 'content-type': 'application/json' }

export async function makeKey(base: string, roles: readonly string[], headers: Record<string, string> = {}) {
  const body = JSON.stringify({ name: `test ${roles.join(' and ')}`, roles })
  const reply = await call(base, 'POST', '/keys', { headers: { ...JSON_TYPE, ...headers }, body })
  assert.equal(reply.status, 201, reply.text)
  return reply.json<{ id: string; key: string }>()
}

export async function startServiceWithKeys(env: Record<string, string> = {}): Promise<ServiceWithKeys> {
  const service = await startService({ HOST: '0.0.0.0', ADMIN_HOST: '0.0.0.0', ...env })
  const admin = await makeKey(service.adminUrl, ['admin'])
  const keys: Partial<Record<Role | 'revoked', string>> = { admin: admin.key }
  for (const role of ROLES.filter((one) => one !== 'admin')) {
    keys[role] = (await makeKey(service.adminUrl, [role], bearer(admin.key))).key
  }
  const revoked = await makeKey(service.adminUrl, ['admin'], bearer(admin.key))
  await call(service.adminUrl, 'DELETE', `/keys/${revoked.id}`, { headers: bearer(admin.key) })
  const portOf = (port: Port) => (port === 'admin' ? service.app.adminPort : service.app.messagePort)
  return {
    service,
    keys: { ...keys, revoked: revoked.key } as ServiceWithKeys['keys'],
    baseUrl: (port, host = '127.0.0.1') => `http://${host}:${portOf(port)}`,
  }
}

export type { Called, CallOptions }
