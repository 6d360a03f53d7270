/** Which calls come from this very machine. */
import { isIP } from 'node:net'

/** What is known of where a call comes from. */
export type Whence = Readonly<{
  /** Of the socket. */
  address: string
  /** The host that the call names, without its port; undefined where it names none. */
  host: string | undefined
  /** Whether a proxy says that it passes the call on for somebody else. */
  relayed: boolean
}>

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
 * What makes a call not one from this machine, as part of a sentence; undefined where it is one.
 *
 * A browser on this machine makes such calls too, whatever page it shows: a page whose own name was made to resolve to
 * 127.0.0.1 (DNS rebinding) still calls by that name. And a proxy on this machine calls for others.
 */
export function notLocal({ address, host, relayed }: Whence): string | undefined {
  if (!isLoopback(address)) return `the call came from ${address}`
  if (relayed) return 'the call was passed on by a proxy'
  if (host === undefined || isLoopback(host)) return undefined
  return `the call was made to "${host}" instead of 127.0.0.1 or localhost`
}
