/**
 * Decides where requests of documents may go. An author names hosts, and the name servers of these hosts choose their
 * addresses: so a host is checked as it is written, and each address is checked again before the connection.
 */
import {
  type Address,
  type AddressRange,
  canonical,
  isInRange,
  parseAddress,
  parseRange,
  standsFor,
} from './ip-address.ts'

/** A host or a range of addresses, with a range of ports, both bounds included. */
export type EgressRule = Readonly<{ ports: readonly [from: number, to: number] }> &
  (Readonly<{ kind: 'host'; pattern: string }> | Readonly<{ kind: 'range'; range: AddressRange }>)

export type EgressSettings = Readonly<{
  /** If there are any, nothing else is allowed. */
  egressAllow: readonly EgressRule[]
  /** Overrides `egressAllow`. */
  egressDeny: readonly EgressRule[]
  /** `deny`: addresses that are not public are denied, except for ranges in `egressAllow`. */
  egressPrivate: 'allow' | 'deny'
}>

/** The admin port of this service. Where it listens does not matter: another program may pass on what reaches it. */
export type OwnListener = Readonly<{
  /** 0 before it is known. */
  port(): number
  /** All addresses of this machine now. */
  addresses(): readonly string[]
}>

/** Refusals complete "… is not allowed: ". They never contain the address that a name server returned. */
export interface EgressPolicy {
  /** The check before a name is looked up. In: the host of a URL, IPv6 with or without brackets. */
  refusal(host: string, port: number): string | undefined
  /** The check of an address that the name server returned. */
  addressRefusal(host: string, address: string, port: number): string | undefined
}

/** Link-local addresses, and those at which clouds serve credentials to every program on the machine. */
const NEVER = [
  '169.254.0.0/16',
  'fe80::/10',
  // Amazon, Google, Oracle, Scaleway over IPv6; Alibaba; Azure; Oracle's first.
  'fd00:ec2::/32',
  'fd20:ce::/64',
  'fd00:c1::/64',
  'fd00:42::/64',
  '100.100.100.200',
  '168.63.129.16',
  '192.0.0.192',
]
const NEVER_NAMES = new Set(['metadata.google.internal', 'metadata.goog', 'instance-data.ec2.internal'])

/** Addresses that are not public, by IANA's registries of special purposes (RFC 6890). */
const PRIVATE = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
  '::/127',
  '100::/64',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  'fc00::/7',
  'fec0::/10',
  'ff00::/8',
]

const LOOPBACK = ['127.0.0.0/8', '::1']

const REFUSALS = {
  own: 'it is the admin port of this service, which no document may call',
  never: 'it is a link-local address, or one at which a cloud serves credentials',
  denied: 'EGRESS_DENY denies it',
  private: 'EGRESS_PRIVATE denies addresses that are not public',
  notAllowed: 'EGRESS_ALLOW does not name it',
} as const

/** `own`: denied whatever the settings say; undefined where no service listens. */
export function createEgressPolicy(
  { egressAllow: allow, egressDeny: deny, egressPrivate }: EgressSettings,
  own?: OwnListener,
): EgressPolicy {
  const denyPrivate = egressPrivate === 'deny'
  const never = rangesOf(NEVER)
  const notPublic = rangesOf(PRIVATE)
  const addressRefusal = (name: string, address: Address | undefined, port: number): string | undefined => {
    if (address === undefined) return REFUSALS.never
    const written = canonical(address)
    const all = [written, ...standsFor(written)]
    if (all.some((one) => isIn(one, never))) return REFUSALS.never
    if (own !== undefined && port === own.port() && isOfMachine(all, own)) return REFUSALS.own
    if (hasHost(deny, name, port) || all.some((one) => hasAddress(deny, one, port))) return REFUSALS.denied
    const isNamed = hasAddress(allow, written, port)
    if (denyPrivate && !isNamed && all.some((one) => isIn(one, notPublic))) return REFUSALS.private
    return allow.length === 0 || isNamed || hasHost(allow, name, port) ? undefined : REFUSALS.notAllowed
  }
  const nameRefusal = (name: string, port: number): string | undefined => {
    if (NEVER_NAMES.has(name)) return REFUSALS.never
    if (hasHost(deny, name, port)) return REFUSALS.denied
    const mayBe = allow.some((rule) => rule.kind === 'range' && holdsFor(rule, port))
    return allow.length === 0 || mayBe || hasHost(allow, name, port) ? undefined : REFUSALS.notAllowed
  }
  return {
    refusal: (host, port) => {
      const name = normalised(host)
      const address = parseAddress(name)
      return address === undefined ? nameRefusal(name, port) : addressRefusal(name, address, port)
    },
    addressRefusal: (host, address, port) => {
      const name = normalised(host)
      return nameRefusal(name, port) ?? addressRefusal(name, parseAddress(address), port)
    },
  }
}

/** Read at each call: addresses come and go, and few requests go to this port. */
function isOfMachine(all: readonly Address[], { addresses }: OwnListener): boolean {
  const ranges = rangesOf([...LOOPBACK, ...addresses()])
  return all.some((one) => isIn(one, ranges))
}

/**
 * In: `host`, `*.host`, `*`, an address or a range, each with or without `:port` or `:from-to`; IPv6 with a port is in
 * brackets. Out: undefined for any other text.
 */
export function parseEgressRule(text: string): EgressRule | undefined {
  const [, bracketed, bare, portText] =
    /^(?:\[([^\]]+)\]|([^[\]]*?))(?::(\d{1,5}(?:-\d{1,5})?))?$/.exec(withoutPort(text)) ?? []
  const host = bracketed ?? bare ?? ''
  const ports = parsePorts(portText)
  if (ports === undefined) return undefined
  const range = parseRange(host)
  if (range !== undefined && (bracketed === undefined || bracketed.includes(':')))
    return { kind: 'range', range, ports }
  const pattern = bracketed === undefined ? parsePattern(host) : undefined
  return pattern === undefined ? undefined : { kind: 'host', pattern, ports }
}

/** Adds brackets to an IPv6 address, whose colons do not start a port. */
const withoutPort = (text: string): string => (/^[0-9a-f]*:[^[\]]*:/i.test(text) ? `[${text}]` : text)

function parsePorts(text: string | undefined): readonly [number, number] | undefined {
  if (text === undefined) return [0, 65_535]
  const [from = 0, to = from] = text.split('-').map(Number)
  return from >= 1 && to >= from && to <= 65_535 ? [from, to] : undefined
}

/** In lower-case ASCII, as in URLs; undefined if it is not a name, or is another spelling of an address. */
function parsePattern(text: string): string | undefined {
  if (text === '*') return text
  const [, star = '', name = ''] = /^(\*\.)?([^*/?#@:\\%\s]+)$/.exec(text) ?? []
  const url = name === '' ? null : URL.parse(`http://${name}`)
  if (url === null || parseAddress(url.hostname) !== undefined) return undefined
  return star + normalised(url.hostname)
}

/** Removes brackets and the final dot. */
const normalised = (host: string): string =>
  host
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.+$/, '')
    .toLowerCase()

const holdsFor = ({ ports: [from, to] }: EgressRule, port: number): boolean => port >= from && port <= to

const hasHost = (rules: readonly EgressRule[], name: string, port: number): boolean =>
  rules.some((rule) => rule.kind === 'host' && holdsFor(rule, port) && matches(rule.pattern, name))

const matches = (pattern: string, name: string): boolean =>
  pattern === '*' || pattern === name || (pattern.startsWith('*.') && name.endsWith(pattern.slice(1)))

const hasAddress = (rules: readonly EgressRule[], address: Address, port: number): boolean =>
  rules.some((rule) => rule.kind === 'range' && holdsFor(rule, port) && isInRange(address, rule.range))

const isIn = (address: Address, all: readonly AddressRange[]): boolean => all.some((range) => isInRange(address, range))

const rangesOf = (texts: readonly string[]): readonly AddressRange[] => texts.flatMap((text) => parseRange(text) ?? [])

/** The reason why a request to a URL is refused; undefined if it is allowed. */
export const refusalOf = ({ hostname, port, protocol }: URL, egress: EgressPolicy): string | undefined =>
  egress.refusal(hostname, port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))
