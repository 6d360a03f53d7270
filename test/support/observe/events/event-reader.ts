/** Reads server-sent events as a browser does, and collects them. */
import { until } from '../../until.ts'

export type ReceivedEvent = Readonly<{ id: string | undefined; type: string; data: Record<string, unknown> }>

export type EventReader = Readonly<{
  status: number
  headers: Headers
  events: readonly ReceivedEvent[]
  /** Comments, such as heartbeats. */
  readonly comments: number
  /** Resolves to the first event that fits, at once or later. */
  first(fits: (event: ReceivedEvent) => boolean): Promise<ReceivedEvent>
  /** Resolves when the service has ended the stream. */
  ended: Promise<void>
  close(): void
}>

export async function readEvents(url: string, headers: Record<string, string> = {}): Promise<EventReader> {
  const abort = new AbortController()
  const response = await fetch(url, { headers, signal: abort.signal })
  const events: ReceivedEvent[] = []
  let comments = 0
  const collect = async (): Promise<void> => {
    let text = ''
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString()
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      for (const block of blocks) {
        if (block.startsWith(':')) comments += 1
        else events.push(eventOf(block))
      }
    }
  }
  const ended = collect().catch((thrown) => {
    if (!abort.signal.aborted) throw thrown
  })
  return {
    status: response.status,
    headers: response.headers,
    events,
    get comments() {
      return comments
    },
    first: async (fits) => {
      const found = await until(
        () => events.find(fits),
        (event) => event !== undefined,
      )
      return found as ReceivedEvent
    },
    ended,
    close: () => abort.abort(),
  }
}

function eventOf(block: string): ReceivedEvent {
  const fields = new Map(block.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]))
  return { id: fields.get('id'), type: fields.get('event') ?? '', data: JSON.parse(fields.get('data') ?? 'null') }
}
