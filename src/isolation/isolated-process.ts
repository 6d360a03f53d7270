/** THE ISOLATED PROCESS: the program of a child. Its standard input and output are its only channel. */
import { Socket } from 'node:net'
import { confine } from './confine.ts'
import { frame, type IsolationRequest, type ProgramOptions, unframe } from './isolation-protocol.ts'
import { createPrograms, type Programs } from './programs.ts'

const input = new Socket({ fd: 0, readable: true, writable: false })
const output = new Socket({ fd: 1, readable: false, writable: true })
confine()

let programs: Programs | undefined
input.on(
  'data',
  unframe((value) => {
    if (programs === undefined) {
      programs = createPrograms(value as ProgramOptions)
      output.write(frame('ready'))
      return
    }
    programs.handle(value as IsolationRequest).then((response) => output.write(frame(response)))
  }),
)
// The channel closes when the service ends, even if it was killed.
for (const event of ['end', 'error', 'close']) input.on(event, () => process.exit(0))
output.on('error', () => process.exit(0))
