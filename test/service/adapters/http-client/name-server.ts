/** A name server on a free UDP port of 127.0.0.1, and the look-up of names that asks it: as much of RFC 1035 as that takes. */
import { createSocket } from 'node:dgram'
import { Resolver } from 'node:dns'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'
import type { TestContext } from 'node:test'
import type { ResolveAddress } from '../../../../src/adapters/http-client/http-connections.ts'

/** The addresses of a name when it is looked up for the nth time, from 1. */
export type Answering = (name: string, time: number) => readonly string[]

export type NameServer = Readonly<{
  resolve: ResolveAddress
  /** How often each name was looked up. */
  asked: ReadonlyMap<string, number>
}>

const TYPES = { 1: 'A', 28: 'AAAA' } as const
const HEADER_BYTES = 12

export async function startNameServer(t: TestContext, answering: Answering): Promise<NameServer> {
  const asked = new Map<string, number>()
  const times = new Map<string, number>()
  const socket = createSocket('udp4')
  socket.on('message', (query, { port, address }) => {
    const { name, type, end } = questionOf(query)
    // Both kinds of address are asked for at the same time.
    const place = `${type} ${name}`
    const time = (times.get(place) ?? 0) + 1
    times.set(place, time)
    asked.set(name, Math.max(asked.get(name) ?? 0, time))
    const addresses = answering(name, time).filter((one) => isIPv4(one) === (type === 'A'))
    socket.send(answerTo(query.subarray(0, end), addresses), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  const resolver = new Resolver({ timeout: 2_000, tries: 1 })
  resolver.setServers([`127.0.0.1:${socket.address().port}`])
  t.after(() => resolver.cancel())
  const resolve: ResolveAddress = (host, _options, callback) => {
    const found: { address: string; family: number }[] = []
    let left = 2
    const take =
      (family: number) =>
      (_error: NodeJS.ErrnoException | null, addresses: string[] = []) => {
        found.push(...addresses.map((address) => ({ address, family })))
        left -= 1
        if (left === 0) callback(found.length > 0 ? null : Object.assign(new Error('no'), { code: 'ENOTFOUND' }), found)
      }
    resolver.resolve4(host, take(4))
    resolver.resolve6(host, take(6))
  }
  return { resolve, asked }
}

function questionOf(query: Buffer): { name: string; type: 'A' | 'AAAA' | undefined; end: number } {
  const labels: string[] = []
  let at = HEADER_BYTES
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  const type = TYPES[query.readUInt16BE(at + 1) as keyof typeof TYPES]
  return { name: labels.join('.').toLowerCase(), type, end: at + 5 }
}

/** A response with a record for each address, all of no life: nothing may be remembered. */
function answerTo(question: Buffer, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question)
  head.writeUInt16BE(0x8180, 2)
  head.writeUInt16BE(addresses.length, 6)
  head.writeUInt32BE(0, 8)
  const records = addresses.map((address) => {
    const bytes = bytesOf(address)
    const start = Buffer.alloc(12)
    start.writeUInt16BE(0xc000 | HEADER_BYTES, 0)
    start.writeUInt16BE(isIPv4(address) ? 1 : 28, 2)
    start.writeUInt16BE(1, 4)
    start.writeUInt16BE(bytes.length, 10)
    return Buffer.concat([start, bytes])
  })
  return Buffer.concat([head, ...records])
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number))
  // The URL standard writes every address in groups of hexadecimal digits.
  const groupsOf = (part = '') => part.split(':').filter((group) => group !== '')
  const [head, tail] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::').map(groupsOf)
  const zeros = Array<string>(8 - (head?.length ?? 0) - (tail?.length ?? 0)).fill('0')
  const groups = [...(head ?? []), ...zeros, ...(tail ?? [])]
  return Buffer.from(groups.map((group) => group.padStart(4, '0')).join(''), 'hex')
}
