/**
 * How connections are opened, and which errors are those of a connection that had served before: a server may close an
 * idle connection at the moment of our sending on it, which says nothing about the request.
 */
import { Socket } from 'node:net'
import type { buildConnector as connecting } from 'undici'
import type { EgressPolicy } from '../../../domain/egress/egress-policy.ts'
import { guardedConnector, type ResolveAddress } from './guarded-connector.ts'
import { buildConnector, errors } from './undici.ts'

/** Where connections may go; `resolve` is that of the system unless given. */
export type EgressGuard = Readonly<{ policy: EgressPolicy; resolve?: ResolveAddress }>

export type HttpConnections = Readonly<{
  connect: connecting.connector
  /** Whether the error ended a connection on which an earlier exchange had gone well. */
  endedUsed(error: unknown): boolean
  /** Gives up the attempts under way: closing the HTTP agent leaves these to run out. */
  abandon(): void
}>

/**
 * Opens connections within `connectTimeoutMs`, name lookup and TLS included; fails with ConnectTimeoutError.
 * HTTP/1.1 only, so that dropping a connection stops exactly one exchange.
 */
export function createHttpConnections(connectTimeoutMs: number, guard?: EgressGuard): HttpConnections {
  // A timer of our own: undici's may be late by half a second.
  const options = { allowH2: false, timeout: 0 }
  const open = guard === undefined ? buildConnector(options) : guardedConnector(options, guard.policy, guard.resolve)
  const connecting = new Set<Socket>()
  const endedUsed = new WeakSet<Error>()

  const connect: connecting.connector = (options, callback) => {
    // Undici returns the socket without declaring it.
    const socket: unknown = open(options, (...opened) => {
      clearTimeout(timer)
      if (socket instanceof Socket) connecting.delete(socket)
      const [, connection] = opened
      if (connection instanceof Socket) watch(connection)
      callback(...opened)
    })
    const expire = (): void => {
      if (socket instanceof Socket) socket.destroy(new errors.ConnectTimeoutError('no connection in time'))
    }
    const timer = setTimeout(expire, connectTimeoutMs)
    if (socket instanceof Socket) connecting.add(socket)
  }

  const watch = (connection: Socket): void => {
    const bytesAtFirst = connection.bytesRead
    connection.on('error', (error) => {
      if (connection.bytesRead > bytesAtFirst) endedUsed.add(error)
    })
  }

  return {
    connect,
    endedUsed: (error) => error instanceof Error && endedUsed.has(error),
    abandon: () => {
      for (const socket of connecting) socket.destroy(new errors.ClientDestroyedError())
    },
  }
}
