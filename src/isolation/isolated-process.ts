/** THE ISOLATED PROCESS: the program of a child. It has its channel, which is its standard input and output, and nothing else. */
import { Socket } from 'node:net'
import { confine } from './confine.ts'
import { createPrograms, type Programs } from './programs.ts'
import { frame, type Question, type Terms, unframe } from './protocol.ts'

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
    programs.answer(value as Question).then((answer) => output.write(frame(answer)))
  }),
)
// The service has ended, however it did.
for (const event of ['end', 'error', 'close']) input.on(event, () => process.exit(0))
output.on('error', () => process.exit(0))
