/** URLs of MLLP listeners: `mllp://host:port`. MLLP has no paths, and no port of its own. */
import type { Address } from './mllp-connections.ts'

const EXAMPLE = 'mllp://lab.example.org:2575'
const SHAPE = /^mllp:\/\/([^/?#]*)(.*)$/is

/** Undefined if the URL is at fault. */
export function parseMllpUrl(text: string): Address | undefined {
  const [, authority = '', rest] = SHAPE.exec(text) ?? []
  const [, portText] = /:(\d{1,5})$/.exec(authority) ?? []
  const port = Number(portText)
  // As an HTTP URL, so that every spelling of a host and of an IPv4 address is read as elsewhere.
  const url = rest === '' && !authority.includes('@') ? URL.parse(`http://${authority}`) : null
  if (url === null || url.hostname === '' || !(port >= 1 && port <= 65_535)) return undefined
  return { host: url.hostname.replace(/^\[(.*)\]$/, '$1'), port }
}

/** One text for every spelling of an address. */
export const formatMllpUrl = ({ host, port }: Address): string =>
  `mllp://${host.includes(':') ? `[${host}]` : host}:${port}`

/** What is wrong with a URL, and what to write instead. */
export function checkMllpUrl(text: string): string | undefined {
  if (parseMllpUrl(text) !== undefined) return undefined
  const [, authority = '', rest = ''] = SHAPE.exec(text) ?? []
  if (/\$\{/.test(text))
    return `References to secrets cannot be in an MLLP URL; write the host and the port, as in "${EXAMPLE}".`
  if (authority.includes('@'))
    return 'An MLLP URL must not hold credentials, which MLLP has not; leave out what is before "@".'
  if (rest !== '') return `An MLLP URL is a host and a port alone, as in "${EXAMPLE}"; leave out what follows.`
  if (!/:\d+$/.test(authority)) return `An MLLP URL needs a port, as in "${EXAMPLE}".`
  return `The URL has no valid host and port; write them as in "${EXAMPLE}".`
}
