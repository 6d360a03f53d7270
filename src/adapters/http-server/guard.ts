/** Who may manage endpoints while nobody can say who they are: callers on this machine. */
import { isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'
import { Failure } from '../../domain/failure.ts'
import type { Guard } from './management.ts'

/** Whether a host name or address, as a setting or a socket gives it, is this machine's loopback. */
export function isLoopback(host: string): boolean {
  const address = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:/, '')
  if (isIP(address) === 4) return address.startsWith('127.')
  return address === '::1' || address === 'localhost'
}

/** Lets callers on loopback manage endpoints, others only where MANAGEMENT_AUTH is `off`. Fails with MANAGEMENT_REFUSED. */
export function createGuard(managementAuth: 'off' | undefined): Guard {
  if (managementAuth === 'off') return () => undefined
  return (request: FastifyRequest) => {
    const remote = request.socket.remoteAddress ?? ''
    if (isLoopback(remote)) return undefined
    return new Failure(
      'MANAGEMENT_REFUSED',
      `Endpoints are managed from this machine only, and the call came from ${remote}. To let others, set MANAGEMENT_AUTH=off (no check at all).`,
    )
  }
}
