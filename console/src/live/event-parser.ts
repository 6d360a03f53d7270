/** Reads server-sent events from the text of a stream (HTML Living Standard, "Parsing an event stream"). */

export type SentEvent = Readonly<{ id: string; type: string; data: string }>

export type EventParser = Readonly<{
  /** Takes the next text, which may end anywhere; returns the events that it completes. */
  push(text: string): readonly SentEvent[]
}>

export function createEventParser(): EventParser {
  let rest = ''
  let id = ''
  let type = ''
  let data: string[] = []
  const readLine = (line: string): SentEvent | undefined => {
    if (line === '') {
      const event = data.length === 0 ? undefined : { id, type: type === '' ? 'message' : type, data: data.join('\n') }
      type = ''
      data = []
      return event
    }
    const colon = line.indexOf(':')
    const field = colon === -1 ? line : line.slice(0, colon)
    const value = colon === -1 ? '' : line.slice(colon + 1).replace(/^ /, '')
    if (field === 'event') type = value
    else if (field === 'data') data.push(value)
    else if (field === 'id' && !value.includes('\0')) id = value
    return undefined
  }
  return {
    push: (text) => {
      rest += text
      // A CR at the end may be the first half of CRLF.
      const lines = rest.split(/\r\n|\n|\r(?!$)/)
      rest = lines.pop() ?? ''
      return lines.map(readLine).filter((event) => event !== undefined)
    },
  }
}
