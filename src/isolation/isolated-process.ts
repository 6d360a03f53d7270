/** THE ISOLATED PROCESS: the program of a child. It has its channel, which is its standard input and output, and nothing else. */
import { Socket } from 'node:net'
import { confine } from './confine.ts'
import { frame, type IsolationRequest, type Terms, unframe } from './isolation-protocol.ts'
import { createPrograms, type Programs } from './programs.ts'

const input = new Socket({ fd: 0, readable: true, writable: false })
const output = new Socket({ fd: 1, readable: false, writable: true })
confine()

let programs: Programs | undefined
input.on(
  'data',
  unframe((value) => {
    if (programs === undefined) {
      programs = createPrograms(value as Terms)
      output.write(frame({ kind: 'ready' }))
      return
    }
    programs.answer(value as IsolationRequest).then((answer) => output.write(frame(answer)))
  }),
)
// The service has ended, however it did.
for (const event of ['end', 'error', 'close']) input.on(event, () => process.exit(0))
output.on('error', () => process.exit(0))
