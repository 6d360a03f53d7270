/** The URL at which callers reach the message port. */
import type { Settings } from './settings.ts'

/** `HOST` of a port that listens on every address of the machine. */
export const EVERY_ADDRESS: readonly string[] = ['0.0.0.0', '::']

/**
 * In: the settings of the message port; the header `Host` of a call to the admin port. Out: a URL such as
 * `http://10.0.0.7:3003`, without a last slash. A port on every address has the name that the caller used for the admin port.
 */
export function messageOrigin(
  { publicUrl, host, serverPort }: Pick<Settings, 'publicUrl' | 'host' | 'serverPort'>,
  calledAs?: string,
): string {
  if (publicUrl !== undefined) return publicUrl
  const name = EVERY_ADDRESS.includes(host) ? (nameIn(calledAs) ?? 'localhost') : host
  return `http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}:${serverPort}`
}

/** The header may be absent or malformed. An IPv6 address is in brackets. */
const nameIn = (calledAs: string | undefined): string | undefined =>
  calledAs === undefined ? undefined : URL.parse(`http://${calledAs}`)?.hostname
