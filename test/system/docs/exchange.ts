/** Requests and answers as pages show them: `curl` commands, or the text of HTTP. */

export type Message = Readonly<{
  /** The first line: `POST /orders`, or `HTTP/1.1 200 OK`. */
  start: string
  headers: Readonly<Record<string, string>>
  body: string | undefined
}>

/** A call that the service makes, with what the other side answers; undefined: it closes the connection. */
export type Exchange = Readonly<{ call: Message; answer: Message | undefined }>

export const isAnswer = (text: string): boolean => text.startsWith('HTTP/1.1 ')

export function readMessage(text: string): Message {
  const [head = '', ...rest] = text.split('\n\n')
  const [start = '', ...lines] = head.split('\n')
  const headers = lines.map((line) => {
    const [, name, value] = /^([\w-]+): (.*)$/.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error(`"${line}" is no header`)
    return [name.toLowerCase(), value] as const
  })
  const body = rest.length === 0 ? undefined : rest.join('\n\n')
  return { start, headers: Object.fromEntries(headers), body }
}

/** A request in the text of HTTP. Pages leave out the type of a body that is JSON. */
export function readRequest(text: string): Message {
  const { start, headers, body } = readMessage(text)
  return { start, headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers }, body }
}

export function readExchange(text: string): Exchange {
  const [call = '', answer] = text.split(/\n\n(?=HTTP\/1\.1 |\(closes the connection\))/)
  if (answer === undefined) throw new Error('an exchange needs the answer of the other side')
  return { call: readMessage(call), answer: isAnswer(answer) ? readMessage(answer) : undefined }
}

/** The requests of the `curl` commands in a block for the shell; other commands are passed over. */
export function readCurls(text: string): readonly Message[] {
  return commandsOf(text)
    .filter(([program]) => program === 'curl')
    .map(([, ...words]) => readCurl(words))
}

/** The words of each command: quotes undone, comments and continued lines joined. No variables, no pipes. */
function commandsOf(text: string): string[][] {
  const commands: string[][] = [[]]
  const parts = text.matchAll(/\\\n|[ \t]+|#[^\n]*|(\n)|((?:'[^']*'|"[^"]*"|\\[^\n]|[^\s'"\\])+)/g)
  for (const [, end, word] of parts) {
    if (end !== undefined) commands.push([])
    if (word !== undefined) commands.at(-1)?.push(word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, '$1$2$3'))
  }
  return commands
}

function readCurl(words: readonly string[]): Message {
  const headers: Record<string, string> = {}
  let [method, url, body]: (string | undefined)[] = []
  const rest = [...words]
  for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
    if (word === '-H') {
      const [name = '', value = ''] = (rest.shift() ?? '').split(/: (.*)/s)
      headers[name.toLowerCase()] = value
    } else if (word === '-d') body = rest.shift()
    else if (word === '-X') method = rest.shift()
    else if (word.startsWith('http://')) url = word
    else if (word !== '-s' && word !== '-i') throw new Error(`curl ${word}: the test of the guide does not know it`)
  }
  if (body !== undefined) headers['content-type'] ??= 'application/x-www-form-urlencoded'
  return { start: `${method ?? (body === undefined ? 'GET' : 'POST')} ${url}`, headers, body }
}
