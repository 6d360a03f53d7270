/**
 * The other system that lookups ask: answers `GET /anything/<code>` with the code and its name. It reads no more of a
 * request than its path, since it shares a core with the load.
 */
import { createServer } from 'node:net'
import { reportPort } from './serving.ts'

const HEAD_END = '\r\n\r\n'

const server = createServer({ noDelay: true }, (socket) => {
  let pending = ''
  socket.setEncoding('latin1')
  socket.on('data', (chunk: string) => {
    pending += chunk
    let answers = ''
    for (let end = pending.indexOf(HEAD_END); end !== -1; end = pending.indexOf(HEAD_END)) {
      answers += answerTo(pending.slice(0, pending.indexOf('\r\n')))
      pending = pending.slice(end + HEAD_END.length)
    }
    if (answers !== '') socket.write(answers)
  })
  // A client may disconnect at any time.
  socket.on('error', () => socket.destroy())
})

function answerTo(requestLine: string): string {
  const path = requestLine.slice(requestLine.indexOf(' ') + 1, requestLine.lastIndexOf(' '))
  const code = path.slice(path.lastIndexOf('/') + 1)
  const body = `{"code":"${code}","display":"Name of ${code}"}`
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}${HEAD_END}${body}`
}

server.listen(0, '127.0.0.1', () => reportPort(server))
