/**
 * IP addresses as numbers, so that a range contains every spelling of an address, and the IPv4 addresses that an IPv6
 * address reaches.
 */

export type Address = Readonly<{ family: 4 | 6; value: bigint }>

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
const LOOPBACK: readonly Address[] = [
  { family: 4, value: 0x7f00_0001n },
  { family: 6, value: 1n },
]

/**
 * The other addresses that one reaches. Gateways and tunnels treat an IPv6 address as the IPv4 address in it:
 * translated (RFC 6052, RFC 8215, RFC 2765), compatible (RFC 4291 section 2.5.5.1), 6to4 (RFC 3056), Teredo (RFC 4380),
 * ISATAP (RFC 5214).
 */
export function standsFor({ family, value }: Address): readonly Address[] {
  if (value === 0n) return LOOPBACK
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
