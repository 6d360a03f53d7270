/**
 * Acknowledged messages a second over MLLP through an endpoint that maps them, beside a bare loop that only acknowledges, each
 * in a process of its own on one core and in turn: `node bin/node.js bench/costs/mllp-throughput.ts [seconds] [rounds] [senders]`.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { FrameReader, writeFrame } from '../../src/outbound/mllp/frames.ts'
import { connectSender } from '../../test/support/inbound/mllp/sender.ts'
import { endpointDocument, json } from '../../test/support/service.ts'
import { freePort } from '../../test/support/services/free-ports.ts'
import { onCores } from '../processes/cores.ts'
import { startCrosswalk } from '../processes/crosswalk.ts'

const [seconds = 5, rounds = 3, senders = 50] = process.argv.slice(2).map(Number)

const MESSAGE = writeFrame(
  Buffer.from(
    [
      'MSH|^~\\&|HIS|NORTH CLINIC|HUB|REGION|20260105093000+0000||ADT^A01^ADT_A01|A1|P|2.5.1',
      'EVN|A01|20260105093000',
      'PID|1||4711^^^NORTH^MR~S-99^^^REGION^NI||Doe^Jane^Quinn^^^^L||19800214|F|||1 High Street^^Springfield^^12345',
      'PV1|1|I|W1^12^A^NORTH||||77^Hart^Ines^^^Dr|||MED||||1|||77^Hart^Ines|IN|V100',
      '',
    ].join('\r'),
  ),
)

const bare: number[] = []
const mapped: number[] = []
for (let round = 0; round < rounds; round += 1) {
  bare.push(await runBare())
  mapped.push(await runEndpoint())
  console.log(`round ${round + 1}: bare ${bare.at(-1)} messages/s, endpoint ${mapped.at(-1)} messages/s`)
}
const ratio = (median(mapped) / median(bare)).toFixed(2)
console.log(`medians: bare ${median(bare)} messages/s, endpoint ${median(mapped)} messages/s, ratio ${ratio}`)

async function runBare(): Promise<number> {
  const [program, ...args] = onCores('server', [
    process.execPath,
    fileURLToPath(new URL('bare-mllp.ts', import.meta.url)),
  ])
  const child = spawn(program as string, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [port] = (await once(child.stdout, 'data')) as [Buffer]
    return await measure(Number(String(port)))
  } finally {
    child.kill()
  }
}

async function runEndpoint(): Promise<number> {
  const service = await startCrosswalk('server', {})
  try {
    const port = await freePort()
    const document = endpointDocument({
      endpoint: { pattern: '/patients' },
      mllp: { port },
      transformation: { input: 'HL7V2', output: 'FHIR+JSON' },
      constants: { resourceType: 'Patient' },
      inputMapping: {
        'constants.resourceType': 'resourceType',
        'requestBody.PID[0].3[0].1': 'id',
        'requestBody.PID[0].5[0].1': 'name[0].family',
        'requestBody.PID[0].5[0].2': 'name[0].given[0]',
        'requestBody.PID[0].7[0].1': 'birthDate',
      },
    })
    const reply = await fetch(`${service.origin}/endpoints`, json('POST', document))
    if (reply.status !== 201) throw new Error(await reply.text())
    const first = await connectSender(port)
    first.socket.destroy()
    return await measure(port)
  } finally {
    await service.stop()
  }
}

/** Each sender sends its next message when the last one is acknowledged; the first second warms up. */
async function measure(port: number): Promise<number> {
  let count = 0
  const sockets: Socket[] = []
  for (let sender = 0; sender < senders; sender += 1) {
    const socket = connect(port, '127.0.0.1')
    const reader = new FrameReader(1_000_000)
    socket.setNoDelay(true)
    socket.on('error', () => socket.destroy())
    socket.on('connect', () => socket.write(MESSAGE))
    socket.on('data', (chunk: Buffer) => {
      for (const { content } of reader.read(chunk)) {
        if (!Buffer.from(content).includes('MSA|AA')) throw new Error(`It was answered with ${Buffer.from(content)}`)
        count += 1
        socket.write(MESSAGE)
      }
    })
    sockets.push(socket)
  }
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  await pause(1_000)
  const [before, startedAt] = [count, performance.now()]
  await pause(seconds * 1_000)
  const perSecond = Math.round((count - before) / ((performance.now() - startedAt) / 1_000))
  for (const socket of sockets) socket.destroy()
  return perSecond
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0
}
