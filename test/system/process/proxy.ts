/** Raw TCP in front of a real server, which does to each connection what a fault says. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { nowhere } from '../../support/services/free-ports.ts'

/** What a connection meets; `open` connects to the real server behind. */
export type Behave = (near: Socket, open: () => Socket) => void

export type FaultProxy = Readonly<{
  url: string
  /** Connections that were made. */
  made(): number
  stop(): Promise<void>
}>

/** Does what the path of the first request on a connection says: `/<name>/…`. */
export const byPath =
  (behaviours: ReadonlyMap<string, Behave>): Behave =>
  (near, open) => {
    near.once('data', (chunk) => {
      const [, name = ''] = /^\S+ \/([^/ ]*)/.exec(chunk.toString('latin1')) ?? []
      near.pause()
      near.unshift(chunk)
      behaviours.get(name)?.(near, open)
      near.resume()
    })
  }

export async function startProxy(behave: Behave, stubPort: number): Promise<FaultProxy> {
  const nears = new Set<Socket>()
  let made = 0
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (near) => {
    made += 1
    const fars: Socket[] = []
    nears.add(near)
    near.on('error', () => undefined)
    // The caller has gone: a connection that stayed half-open would be held to the end of the run.
    near.on('end', () => near.destroy())
    near.on('close', () => {
      nears.delete(near)
      for (const far of fars) far.destroy()
    })
    behave(near, () => {
      const far = connect(stubPort, '127.0.0.1')
      far.on('error', () => undefined)
      fars.push(far)
      return far
    })
  })
  const url = await listen(server)
  return {
    url,
    made: () => made,
    stop: async () => {
      for (const near of nears) near.destroy()
      await close(server)
    },
  }
}

/** A port that nothing listens on. */
export async function startRefusing(): Promise<FaultProxy> {
  return { url: await nowhere(), made: () => 0, stop: async () => undefined }
}

/**
 * A port whose queue of connections is full, so that the system answers nothing to further ones: a process that listens,
 * is stopped, and has been connected to as often as it takes.
 */
export async function startFullBacklog(): Promise<FaultProxy> {
  const program = `require('net').createServer().listen({port:0,host:'127.0.0.1',backlog:1},function(){console.log(this.address().port)})`
  const child: ChildProcess = spawn(process.execPath, ['-e', program], {
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: 3_600_000,
    killSignal: 'SIGKILL',
  })
  const [line] = await once(child.stdout as NonNullable<ChildProcess['stdout']>, 'data')
  const port = Number(String(line))
  child.kill('SIGSTOP')
  const fillers = Array.from({ length: 8 }, () => connect(port, '127.0.0.1').on('error', () => undefined))
  // The first of them fill the queue; that a further one hangs is what the case is about.
  await once(fillers[0] as Socket, 'connect')
  return {
    url: `http://127.0.0.1:${port}`,
    made: () => 0,
    stop: async () => {
      for (const filler of fillers) filler.destroy()
      const ended = once(child, 'close')
      child.kill('SIGKILL')
      await ended
    },
  }
}

export type Stub = Readonly<{ port: number; stop(): Promise<void> }>

/** The real server: answers with the path of the request, so that no caller can be given the answer of another. */
export async function startStub(): Promise<Stub> {
  const server: HttpServer = createHttpServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ path: request.url, padding: '.'.repeat(2_000) }))
    })
  })
  const url = await listen(server)
  return {
    port: Number(new URL(url).port),
    stop: () => {
      server.closeAllConnections()
      return close(server)
    },
  }
}

async function listen(server: Server): Promise<string> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const close = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()))
