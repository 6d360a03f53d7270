/** A running service of the peer as a source: its `GET /endpoints`. */
import { isObject, type Json } from '../../domain/json.ts'
import { Unreadable } from '../../formats/body-faults.ts'
import { readBytes } from './file-source.ts'
import { sortRecords } from './found-records.ts'
import { decodeSource, readJsonValues } from './json-values.ts'
import { faultyReading, type SourceReading, TOO_LARGE } from './source-reading.ts'

const MOST_REDIRECTS = 5

export type PeerOptions = Readonly<{ timeoutMs: number }>

export const isUrl = (source: string): boolean => /^https?:\/\//i.test(source)

/** The source as it may be shown: a URL without its user and password. */
export function shownSource(source: string): string {
  if (!isUrl(source) || !URL.canParse(source)) return source
  const url = new URL(source)
  url.username = ''
  url.password = ''
  url.search = ''
  return url.href.replace(/\/$/, '')
}

/** Never throws. A user and password in the URL are sent as basic authentication, to that origin only. */
export async function readPeerSource(source: string, { timeoutMs }: PeerOptions): Promise<SourceReading> {
  const shown = shownSource(source)
  if (!URL.canParse(source)) return faultyReading(`${shown} is not a URL.`)
  const signal = AbortSignal.timeout(timeoutMs)
  try {
    const response = await follow(endpointsUrl(new URL(source)), signal)
    const { status } = response
    if (status !== 200) return faultyReading(`${shown} answered with status ${status} to GET /endpoints; ${CHECK_URL}`)
    const text = decodeSource(await readBytes(response.body ?? new Blob([]).stream()))
    const values = readJsonValues(text)
    if (values.length !== 1 || !Array.isArray(values[0]?.value)) {
      return faultyReading(
        `${shown} answered GET /endpoints with something other than a list of endpoints; ${CHECK_URL}`,
      )
    }
    if (values[0].value.some(isOfCrosswalk)) {
      return faultyReading(`${shown} is Crosswalk itself; give the URL of the openhim-mediator-mapping.`)
    }
    const reading = sortRecords(values, shown, false)
    if (reading.documents.length === 0) return faultyReading(`${shown} has no endpoints.`)
    return reading
  } catch (thrown) {
    return faultyReading(`${shown} ${problemOf(thrown, timeoutMs)}.`)
  }
}

const CHECK_URL = 'check that the URL is that of openhim-mediator-mapping.'

/** The peer keeps no field that it does not know, and Crosswalk gives this one to every document. */
const isOfCrosswalk = (document: Json): boolean => isObject(document) && isObject(document.labels)

function endpointsUrl(url: URL): URL {
  if (/\/endpoints\/?$/.test(url.pathname)) return url
  const target = new URL(url)
  target.pathname = `${url.pathname.replace(/\/$/, '')}/endpoints`
  return target
}

/** Follows redirects itself: `fetch` refuses a URL with a password, and would not say where the last redirect led. */
async function follow(start: URL, signal: AbortSignal): Promise<Response> {
  const { origin, username, password } = start
  const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')
  let url = start
  for (let count = 0; count <= MOST_REDIRECTS; count++) {
    const bare = new URL(url)
    bare.username = ''
    bare.password = ''
    const isKnown = username !== '' && url.origin === origin
    const headers = { accept: 'application/json', ...(isKnown ? { authorization: `Basic ${credentials}` } : {}) }
    const response = await fetch(bare.href, { redirect: 'manual', headers, signal })
    const location = response.headers.get('location')
    if (response.status < 300 || response.status > 399 || location === null) return response
    await response.body?.cancel()
    if (!URL.canParse(location, bare.href)) throw new PeerFault('redirects to something other than a URL')
    url = new URL(location, bare)
    if (!/^https?:$/.test(url.protocol)) throw new PeerFault('redirects to something other than an http URL')
  }
  throw new PeerFault(`redirects more than ${MOST_REDIRECTS} times`)
}

class PeerFault extends Error {}

function problemOf(thrown: unknown, timeoutMs: number): string {
  if (thrown instanceof PeerFault) return thrown.message
  if (thrown instanceof Unreadable)
    return `answered GET /endpoints unreadably; ${CHECK_URL} ${thrown.message.replace(/\.$/, '')}`
  if (thrown instanceof RangeError) return `gives too much: ${TOO_LARGE}`
  if (thrown instanceof DOMException && thrown.name === 'TimeoutError') {
    return `did not answer GET /endpoints within ${timeoutMs / 1000} s`
  }
  const cause = thrown instanceof Error ? thrown.cause : undefined
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : undefined
  return `cannot be reached${code === undefined ? '' : ` (${code})`}; check the address, and that the service runs`
}
