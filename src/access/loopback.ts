/** Recognises calls from this machine. */
import { isIP } from 'node:net'

export type CallOrigin = Readonly<{
  /** The remote address of the socket. */
  address: string
  /** The Host header without its port; undefined if there is none. */
  host: string | undefined
  /** Whether a header shows that a proxy forwards the call. */
  forwarded: boolean
}>

/** In: a host name, or an address of a setting or a socket. */
export function isLoopback(host: string): boolean {
  const address = host
    .toLowerCase()
    .replace(/^\[|\]$/g, '')
    .replace(/^::ffff:/, '')
  if (isIP(address) === 4) return address.startsWith('127.')
  return address === '::1' || address === 'localhost'
}

/**
 * Out: the reason why a call is not from this machine, as a part of a sentence; undefined if it is.
 *
 * The address alone is not enough: a browser on this machine also sends calls of foreign pages, whose host name resolves
 * to 127.0.0.1 (DNS rebinding), and a proxy on this machine forwards calls of others.
 */
export function notLocal({ address, host, forwarded }: CallOrigin): string | undefined {
  if (!isLoopback(address)) return `the call came from ${address}`
  if (forwarded) return 'a proxy forwarded the call'
  if (host === undefined || isLoopback(host)) return undefined
  return `the call was made to "${host}" instead of 127.0.0.1 or localhost`
}
