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

/**
 * Lets callers on loopback manage endpoints, others only where MANAGEMENT_AUTH is `off`. Fails with MANAGEMENT_REFUSED.
 *
 * A browser on this machine is such a caller too, whatever page it shows: a page whose own name was made to resolve to
 * 127.0.0.1 (DNS rebinding) still calls by that name, and is refused for it.
 */
export function createGuard(managementAuth: 'off' | undefined): Guard {
  if (managementAuth === 'off') return () => undefined
  return (request: FastifyRequest) => {
    const remote = request.socket.remoteAddress ?? ''
    if (!isLoopback(remote)) return refusal(`the call came from ${remote}`)
    const named = request.headers.host === undefined ? 'localhost' : request.hostname
    return isLoopback(named) ? undefined : refusal(`the call was made to "${named}" instead of 127.0.0.1 or localhost`)
  }
}

const refusal = (what: string): Failure =>
  new Failure(
    'MANAGEMENT_REFUSED',
    `Endpoints are managed from this machine only, and ${what}. To let others, set MANAGEMENT_AUTH=off (no check at all).`,
  )
