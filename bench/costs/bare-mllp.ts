/** The least that a receiver over MLLP can do: finds the frames and acknowledges them. Writes its port. */
import { type AddressInfo, createServer } from 'node:net'
import { writeAnswers } from '../../src/inbound/mllp/acknowledgement.ts'
import { FrameReader, writeFrame } from '../../src/outbound/mllp/frames.ts'
import { readHeader } from '../../src/outbound/mllp/message-header.ts'

let count = 0
const newControlId = (): string => {
  count += 1
  return String(count)
}

const server = createServer((socket) => {
  const reader = new FrameReader(1_000_000)
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk: Buffer) => {
    for (const { content } of reader.read(chunk)) {
      const options = { newControlId, nowMs: Date.now() }
      for (const answer of writeAnswers(readHeader(content), { failure: undefined }, options)) {
        socket.write(writeFrame(answer))
      }
    }
  })
})
server.listen(0, '127.0.0.1', () => process.stdout.write(`${(server.address() as AddressInfo).port}\n`))
