/** Who may see what became of messages: who may send them, and on a port that manages endpoints every viewer. */
import { Failure } from '../../core/failure.ts'
import type { Headers } from '../../core/message.ts'
import type { Registry } from '../../endpoints/endpoint-registry.ts'
import type { Decision } from './authorise.ts'

/** `byRole`: decides as for a route for viewers. Rejects with a failure of `auth`, and with ENDPOINT_UNKNOWN. */
export type AuthoriseSender = (
  endpointId: string,
  headers: Headers,
  byRole: () => Promise<Decision>,
) => Promise<Decision>

export function createSenderAccess(registry: Pick<Registry, 'get'>, managesEndpoints: boolean): AuthoriseSender {
  return async (endpointId, headers, byRole) => {
    const compiled = registry.get(endpointId)
    // Without a route, an endpoint has no senders on this port.
    const hasSenders = compiled?.endpoint.endpoint.pattern !== undefined
    const sender = hasSenders ? await (compiled.auth?.identify(headers) ?? 'anyone') : undefined
    if (typeof sender === 'string') return { caller: { who: sender, roles: [] } }
    if (managesEndpoints) {
      const decision = await byRole()
      if (decision.refused === undefined || sender === undefined) return decision
    }
    throw sender ?? new Failure('ENDPOINT_UNKNOWN', `There is no endpoint '${endpointId}' that messages are sent to.`)
  }
}
