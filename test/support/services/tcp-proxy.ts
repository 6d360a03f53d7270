/** A way to a server that a test can cut: by refusing connections, or by letting them hang. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export type TcpProxy = Readonly<{
  /** The same URL, by way of the proxy. */
  url: string
  /** Ends every connection and takes no new one. */
  refuse(): Promise<void>
  /** Takes connections, but passes nothing on, and what is sent meanwhile is lost, as behind a broken network. */
  stall(): void
  /** By which the server knows the connections of now: their ports on this side of it. */
  ports(): number[]
  /** Stalls when a client sends this, before it is passed on; resolves then. */
  stallAt(text: string): Promise<void>
  /** Lets everything through again; connections that hung stay dead, without knowing. */
  heal(): Promise<void>
  stop(): Promise<void>
}>

export type TcpProxyOptions = Readonly<{
  /** What `stall` cuts off: connections that start with this among their first bytes; all where it is left out. */
  only?: string
}>

export async function startTcpProxy(target: string, { only = '' }: TcpProxyOptions = {}): Promise<TcpProxy> {
  const { hostname, port: targetPort } = new URL(target)
  const sockets = new Set<Socket>()
  const farSockets = new Set<Socket>()
  let stalled = false
  let stallText: string | undefined
  let noteStalled: (() => void) | undefined
  /** Counts breaks: a connection of before one never works again. */
  let breaks = 0
  let port = 0

  const server = createServer((near) => {
    const far = connect(Number(targetPort), hostname)
    const made = breaks
    let affected: boolean | undefined
    farSockets.add(far)
    far.on('close', () => farSockets.delete(far))
    const passes = () => affected === false || (!stalled && made === breaks)
    near.on('data', (chunk) => {
      affected ??= chunk.includes(only)
      if (stallText !== undefined && chunk.includes(stallText)) stall()
    })
    pass(near, far, passes)
    pass(far, near, passes)
  })
  const stall = () => {
    stalled = true
    stallText = undefined
    breaks += 1
    noteStalled?.()
  }
  const pass = (from: Socket, to: Socket, passes: () => boolean) => {
    sockets.add(from)
    from.on('error', () => undefined)
    from.on('data', (chunk) => {
      if (passes()) to.write(chunk)
    })
    from.on('close', () => {
      sockets.delete(from)
      if (passes()) to.destroy()
    })
  }
  const listen = async () => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address === 'object' && address !== null) port = address.port
  }
  const close = async () => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    for (const socket of sockets) socket.destroy()
    await closed
  }

  await listen()
  const url = new URL(target)
  url.port = `${port}`
  return {
    url: url.href,
    refuse: close,
    ports: () => [...farSockets].flatMap(({ localPort }) => localPort ?? []),
    stall,
    stallAt: (text) => {
      stallText = text
      return new Promise((resolve) => {
        noteStalled = resolve
      })
    },
    heal: async () => {
      if (stalled) breaks += 1
      stalled = false
      if (!server.listening) await listen()
    },
    stop: close,
  }
}
