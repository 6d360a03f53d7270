/**
 * THE ISOLATED PROCESS: the program of a child, whose standard input and output are its only channel; or of a thread, with a
 * message port.
 */
import { Socket } from 'node:net'
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { confine } from './confine.ts'
import { frame, type IsolationRequest, LOWEST_PRIORITY, type ProgramOptions, unframe } from './isolation-protocol.ts'
import { createPrograms, type Programs } from './programs.ts'

const channel = parentPort === null ? openPipes() : openPort(parentPort)
confine()

let programs: Programs | undefined
channel.read(
  unframe((value) => {
    if (programs === undefined) {
      programs = createPrograms(value as ProgramOptions)
      channel.write(frame('ready'))
      return
    }
    programs.handle(value as IsolationRequest).then((response) => channel.write(frame(response)))
  }),
)

type Channel = Readonly<{ read(take: (chunk: Buffer) => void): void; write(bytes: Buffer): void }>

function openPipes(): Channel {
  const input = new Socket({ fd: 0, readable: true, writable: false })
  const output = new Socket({ fd: 1, readable: false, writable: true })
  // The channel closes when the service ends, even if it was killed.
  for (const event of ['end', 'error', 'close']) input.on(event, () => process.exit(0))
  output.on('error', () => process.exit(0))
  return { read: (take) => input.on('data', take), write: (bytes) => void output.write(bytes) }
}

function openPort(port: NonNullable<typeof parentPort>): Channel {
  lowerPriority()
  return {
    read: (take) =>
      port.on('message', (bytes: Uint8Array) => take(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length))),
    write: (bytes) => port.postMessage(bytes, [bytes.buffer as ArrayBuffer]),
  }
}

/** The thread of messages goes first where both want the same processor. */
function lowerPriority(): void {
  // Elsewhere a priority belongs to the whole process.
  if (process.platform !== 'linux') return
  try {
    setPriority(LOWEST_PRIORITY)
  } catch {
    // The system forbids it: then the thread competes with the others.
  }
}
