/**
 * Decides where requests of documents may go. An author names hosts, and the name servers of these hosts choose their
 * addresses: so a host is checked as written, and each address is checked again before the connection.
 */

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
  const never = parseRanges(NEVER)
  const notPublic = parseRanges(PRIVATE)
  const addressRefusal = (name: string, address: Address | undefined, port: number): string | undefined => {
    if (address === undefined) return REFUSALS.never
    const written = canonical(address)
    const all = [written, ...reachesAlso(written)]
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
  const ranges = parseRanges([...LOOPBACK, ...addresses()])
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

const parseRanges = (texts: readonly string[]): readonly AddressRange[] =>
  texts.flatMap((text) => parseRange(text) ?? [])

/** True if one of the rules names the host as written; no name is looked up. In: IPv6 with or without brackets. */
export function namesHost(rules: readonly EgressRule[], host: string, port: number): boolean {
  const name = normalised(host)
  const address = parseAddress(name)
  return hasHost(rules, name, port) || (address !== undefined && hasAddress(rules, canonical(address), port))
}

/** The reason why a request to a URL is refused; undefined if it is allowed. */
export const checkEgress = ({ hostname, port, protocol }: URL, egress: EgressPolicy): string | undefined =>
  egress.refusal(hostname, port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port))

// IP addresses as numbers, so that a range contains every spelling of an address, and the IPv4 addresses that an IPv6
// address reaches.

type Address = Readonly<{ family: 4 | 6; value: bigint }>

/** All addresses with the same leading bits. */
export type AddressRange = Readonly<{ family: 4 | 6; base: bigint; bits: number }>

const WIDTH = { 4: 32, 6: 128 } as const
const LOW_32 = 0xffff_ffffn

/** Four decimal numbers, or IPv6 (RFC 4291 section 2.2) without brackets; a zone (`%eth0`) is ignored. */
export function parseAddress(text: string): Address | undefined {
  if (!text.includes(':')) return parseIpv4(text)
  const [address = ''] = text.split('%', 1)
  return parseIpv6(address)
}

/** `10.0.0.0/8`, or an address, which is a range of one. */
export function parseRange(text: string): AddressRange | undefined {
  const [, address = '', length] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const parsed = address.includes('%') ? undefined : parseAddress(address)
  if (parsed === undefined) return undefined
  const width = WIDTH[parsed.family]
  const bits = length === undefined ? width : Number(length)
  if (bits > width) return undefined
  const own = canonical(parsed)
  const ownBits = own === parsed || bits < 96 ? bits : bits - 96
  const range = bits < 96 ? parsed : own
  return { family: range.family, base: head(range, ownBits), bits: ownBits }
}

export const isInRange = (address: Address, range: AddressRange): boolean =>
  address.family === range.family && head(address, range.bits) === range.base

/** Turns an IPv4-mapped address into IPv4: every system treats `::ffff:10.0.0.1` as 10.0.0.1. */
export function canonical(address: Address): Address {
  return address.family === 6 && address.value >> 32n === 0xffffn ? ipv4(address.value) : address
}

/** A connection to the unspecified address reaches this machine. */
const LOOPBACK_ADDRESSES: readonly Address[] = [
  { family: 4, value: 0x7f00_0001n },
  { family: 6, value: 1n },
]

/**
 * The other addresses that one reaches. Gateways and tunnels treat an IPv6 address as the IPv4 address in it:
 * translated (RFC 6052, RFC 8215, RFC 2765), compatible (RFC 4291 section 2.5.5.1), 6to4 (RFC 3056), Teredo (RFC 4380),
 * ISATAP (RFC 5214).
 */
function reachesAlso({ family, value }: Address): readonly Address[] {
  if (value === 0n) return LOOPBACK_ADDRESSES
  if (family === 4) return []
  const found: bigint[] = []
  const top = (bits: bigint): bigint => value >> (128n - bits)
  if (top(96n) === 0n && value > 1n) found.push(value)
  if (top(96n) === 0xffff_0000n) found.push(value)
  if (top(96n) === 0x0064_ff9b_0000_0000_0000_0000n) found.push(value)
  if (top(48n) === 0x0064_ff9b_0001n) found.push(value, ...translatedWithin(value))
  if (top(16n) === 0x2002n) found.push(value >> 80n)
  if (top(32n) === 0x2001_0000n) found.push(value >> 64n, ~value & LOW_32)
  if (((value >> 32n) & 0xfdff_ffffn) === 0x5efen) found.push(value)
  return found.map(ipv4)
}

/** Prefixes of 48, 56 and 64 bits leave out bits 64 to 71 (RFC 6052 section 2.2). */
const translatedWithin = (value: bigint): bigint[] => [
  (((value >> 64n) & 0xffffn) << 16n) | ((value >> 40n) & 0xffffn),
  (((value >> 64n) & 0xffn) << 24n) | ((value >> 32n) & 0xff_ffffn),
  (value >> 24n) & LOW_32,
]

const ipv4 = (value: bigint): Address => ({ family: 4, value: value & LOW_32 })

const head = ({ family, value }: Address, bits: number): bigint => value >> BigInt(WIDTH[family] - bits)

function parseIpv4(text: string): Address | undefined {
  if (!/^(?:(?:0|[1-9]\d{0,2})(?:\.(?!$)|$)){4}$/.test(text)) return undefined
  const parts = text.split('.').map(Number)
  if (parts.some((part) => part > 255)) return undefined
  return { family: 4, value: BigInt(parts.reduce((value, part) => value * 256 + part, 0)) }
}

function parseIpv6(text: string): Address | undefined {
  const dotted = /^(.*:)([^:]*\.[^:]*)$/.exec(text)
  const tail = dotted === null ? undefined : parseIpv4(dotted[2] ?? '')
  if (dotted !== null && tail === undefined) return undefined
  const hex = (part: bigint): string => part.toString(16)
  const whole = tail === undefined ? text : `${dotted?.[1]}${hex(tail.value >> 16n)}:${hex(tail.value & 0xffffn)}`
  const sides = whole.split('::').map((side) => (side === '' ? [] : side.split(':')))
  const [left = [], right = []] = sides
  const missing = 8 - left.length - right.length
  if (sides.length > 2 || (sides.length === 2 ? missing < 1 : missing !== 0)) return undefined
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right]
  if (!groups.every((group) => /^[0-9a-f]{1,4}$/i.test(group))) return undefined
  return { family: 6, value: groups.reduce((value, group) => (value << 16n) | BigInt(`0x${group}`), 0n) }
}
