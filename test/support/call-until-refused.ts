/** A caller who goes on until a service that stops refuses it. */
import { type Agent, request } from 'node:http'

/** Sends one message after the other until one is not answered with 200; gives what became of that one. */
export async function callUntilRefused(url: string, agent: Agent | false, onAnswer: () => void): Promise<string> {
  for (;;) {
    const end = await new Promise<string>((resolve) => {
      const outgoing = request(url, { method: 'POST', agent, headers: { 'content-type': 'application/json' } })
      outgoing.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      outgoing.on('response', async (response) => {
        try {
          let text = ''
          for await (const part of response) text += part
          const { statusCode, headers } = response
          if (statusCode === 200) resolve(text === '{"a":1}' ? '200' : `200 with ${text}`)
          else resolve(`${statusCode} ${headers['retry-after']}`)
        } catch (thrown) {
          resolve(`cut short: ${thrown}`)
        }
      })
      outgoing.end('{"a":1}')
    })
    if (end !== '200') return end
    onAnswer()
  }
}
