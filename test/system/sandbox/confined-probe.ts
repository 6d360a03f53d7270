/** What an expression that broke out would try: run by confine.test.ts in a process like an isolated one. */
import { confine } from '../../../src/sandbox/confine.ts'

// As the modules of the service hold them: before the process is confined.
const net = await import('node:net')
const tls = await import('node:tls')
const http = await import('node:http')
const dgram = await import('node:dgram')
const dns = await import('node:dns')
const fs = await import('node:fs')
const childProcess = await import('node:child_process')
const { Worker } = await import('node:worker_threads')
const [port, parent] = process.argv.slice(2).map(Number) as [number, number]
process.env.SECRET = 'of the parent'
confine()

type Attempt = () => unknown
const evaluate = (code: string) =>
  new Function('port', 'parent', 'net', 'dgram', `return ${code}`)(port, parent, net.default, dgram.default)
const ATTEMPTS: Readonly<Record<string, Attempt>> = {
  'net.connect': () => ended(net.connect(port, '127.0.0.1'), 'connect'),
  'new Socket().connect': () => ended(new net.Socket().connect(port, '127.0.0.1'), 'connect'),
  'net.createServer().listen': () => ended(net.createServer().listen(0), 'listening'),
  'tls.connect': () => ended(tls.connect(port, '127.0.0.1'), 'secureConnect'),
  'http.get': () => ended(http.get({ port, host: '127.0.0.1' }), 'response'),
  'net._createServerHandle': () => evaluate('net._createServerHandle("127.0.0.1", 0, 4)'),
  'Server._listen2': () => {
    const server = net.createServer() as unknown as Emitter & { _listen2(...parts: unknown[]): void }
    server._listen2('127.0.0.1', 0, 4, 1)
    return ended(server, 'listening')
  },
  'dgram._createSocketHandle': () => evaluate('dgram._createSocketHandle("127.0.0.1", 0, "udp4")'),
  'dgram.send': () => dgram.createSocket('udp4').send('x', port, '127.0.0.1'),
  'dgram.bind': () => dgram.createSocket('udp4').bind(0),
  'dns.lookup': () => dns.promises.lookup('localhost'),
  'dns.resolve': () => dns.promises.resolve4('localhost'),
  fetch: () => evaluate('fetch("http://127.0.0.1:" + port)'),
  WebSocket: () => evaluate('new WebSocket("ws://127.0.0.1:" + port)'),
  'process.getBuiltinModule': () => evaluate('process.getBuiltinModule("net").connect(port)'),
  'process.binding': () => evaluate('process.binding("tcp_wrap")'),
  'process.dlopen': () => evaluate('process.dlopen({ exports: {} }, "/lib/x.node")'),
  'process.kill': () => evaluate('process.kill(parent, 0)'),
  'import()': () => evaluate('import("node:net")'),
  'fs.readFileSync': () => fs.readFileSync('/etc/hostname'),
  'reading its own program': () => fs.readFileSync(new URL(import.meta.url)),
  'fs.writeFileSync': () => fs.writeFileSync('/tmp/crosswalk-probe', 'x'),
  'fs.readdirSync': () => fs.readdirSync('/'),
  'child_process.spawn': () => ended(childProcess.spawn('true'), 'spawn'),
  'child_process.execSync': () => childProcess.execSync('true'),
  'new Worker': () => ended(new Worker('1', { eval: true }), 'online'),
  'a variable of the environment': () => evaluate('process.env.SECRET') ?? Promise.reject(new Error('none')),
}

type Emitter = Readonly<{ once(event: string, listener: (value?: unknown) => void): unknown }>

const ended = (emitter: Emitter, event: string) =>
  new Promise((resolve, reject) => {
    emitter.once(event, resolve)
    emitter.once('error', reject)
  })

const worked: string[] = []
for (const [name, attempt] of Object.entries(ATTEMPTS)) {
  try {
    await attempt()
    worked.push(name)
  } catch {}
}
process.stdout.write(JSON.stringify({ worked, tried: Object.keys(ATTEMPTS).length }), () => process.exit(0))
