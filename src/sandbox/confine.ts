/**
 * Takes rights from an isolated process or thread before its first message. The flag `--permission` of Node.js 24 denies files,
 * programs, threads and addons, but neither the network nor signals to other processes: this file denies those.
 */
import dgram from 'node:dgram'
import dns from 'node:dns'
import { registerHooks } from 'node:module'
import net from 'node:net'
import { isMainThread } from 'node:worker_threads'

const refuse = (): never => {
  throw new Error('This process has no network, no modules and no other processes.')
}

/** Must run after the last module is loaded. Cannot be undone. */
export function confine(): void {
  // Every client and server of Node.js, fetch and TLS among them, calls these.
  lock(net.Socket.prototype, 'connect')
  for (const name of ['listen', '_listen2']) lock(net.Server.prototype, name)
  lock(net, '_createServerHandle')
  for (const name of ['bind', 'connect', 'send', 'sendto']) lock(dgram.Socket.prototype, name)
  lock(dgram, '_createSocketHandle')
  for (const from of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    for (const name of listFunctions(from)) {
      if (/^(lookup|resolve|reverse|query)/.test(name)) lock(from, name)
    }
  }
  for (const name of ['kill', '_kill', '_debugProcess', 'dlopen', 'binding', '_linkedBinding', 'getBuiltinModule']) {
    lock(process, name)
  }
  for (const name of ['fetch', 'WebSocket', 'EventSource', 'XMLHttpRequest']) Reflect.deleteProperty(globalThis, name)
  for (const name of Object.keys(process.env)) delete process.env[name]
  registerHooks({ resolve: refuse })
  // Only a process has permissions of its own. Not yet in the types of Node.js 24.
  if (isMainThread) (process.permission as unknown as { drop(scope: string): void }).drop('fs.read')
}

const listFunctions = (from: object): string[] =>
  Object.getOwnPropertyNames(from).filter((name) => typeof Reflect.get(from, name) === 'function')

function lock(from: object, name: string): void {
  Object.defineProperty(from, name, { value: refuse, writable: false, configurable: false })
}
