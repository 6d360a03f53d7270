/**
 * Reads JSON text into nodes that know their position. JSON.parse reports neither where a value is, which a fault's
 * path has to be taken to, nor in any dependable way where a broken text is broken.
 *
 * @typedef {{ name: string, start: number, end: number, value: JsonNode }} JsonMember
 *   `start` and `end` are those of the quoted name.
 * @typedef {{ kind: 'object', start: number, end: number, members: JsonMember[] }
 *   | { kind: 'array', start: number, end: number, items: JsonNode[] }
 *   | { kind: 'scalar', start: number, end: number }} JsonNode
 */

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y
const SPACE = /[ \t\r\n]*/y
const WORDS = ['true', 'false', 'null']

/** Far more than the service takes, far less than the browser's stack does. */
const MAX_DEPTH = 500

class TextFault extends Error {
  constructor(offset, message) {
    super(message)
    this.offset = offset
  }
}

/**
 * The root node of a text, or the first fault: its offset, and a sentence's end such as `expected ":", found "1"`.
 *
 * @param {string} text
 * @returns {{ root: JsonNode, fault?: undefined } | { root?: undefined, fault: { offset: number, message: string } }}
 */
export function readJsonText(text) {
  const reader = { text, at: 0, depth: 0 }
  try {
    const root = readValue(reader)
    skipSpace(reader)
    if (reader.at < text.length) refuse(reader, 'the end of the text')
    return { root }
  } catch (thrown) {
    if (!(thrown instanceof TextFault)) throw thrown
    return { fault: { offset: thrown.offset, message: thrown.message } }
  }
}

/** Line and column of an offset, both from 1. */
export function lineAndColumn(text, offset) {
  const before = text.slice(0, offset)
  return { line: before.split('\n').length, column: offset - before.lastIndexOf('\n') }
}

function readValue(reader) {
  skipSpace(reader)
  const { text, at: start } = reader
  switch (text[start]) {
    case '{':
      return nested(reader, readObject)
    case '[':
      return nested(reader, readArray)
    case '"':
      readString(reader)
      return { kind: 'scalar', start, end: reader.at }
    default:
      reader.at += scalarLength(text, start)
      if (reader.at === start) refuse(reader, 'a value')
      return { kind: 'scalar', start, end: reader.at }
  }
}

function nested(reader, read) {
  reader.depth += 1
  if (reader.depth > MAX_DEPTH) throw new TextFault(reader.at, 'objects and arrays are nested too deeply')
  const node = read(reader)
  reader.depth -= 1
  return node
}

function readObject(reader) {
  const start = reader.at
  const members = []
  readList(reader, '}', (afterComma) => {
    const nameStart = reader.at
    if (reader.text[nameStart] !== '"') refuse(reader, `a name in double quotes${afterComma ? ' after the comma' : ''}`)
    readString(reader)
    const member = { name: JSON.parse(reader.text.slice(nameStart, reader.at)), start: nameStart, end: reader.at }
    skipSpace(reader)
    if (reader.text[reader.at] !== ':') refuse(reader, '":" after the name')
    reader.at += 1
    members.push({ ...member, value: readValue(reader) })
  })
  return { kind: 'object', start, end: reader.at, members }
}

function readArray(reader) {
  const start = reader.at
  const items = []
  readList(reader, ']', (afterComma) => {
    if (reader.text[reader.at] === ']') refuse(reader, `a value${afterComma ? ' after the comma' : ''}`)
    items.push(readValue(reader))
  })
  return { kind: 'array', start, end: reader.at, items }
}

/** Reads what stands between brackets, with commas between its parts. */
function readList(reader, closer, readPart) {
  reader.at += 1
  skipSpace(reader)
  for (let afterComma = false; afterComma || reader.text[reader.at] !== closer; ) {
    readPart(afterComma)
    skipSpace(reader)
    afterComma = reader.text[reader.at] === ','
    if (!afterComma && reader.text[reader.at] !== closer) refuse(reader, `"," or "${closer}"`)
    if (afterComma) reader.at += 1
    skipSpace(reader)
  }
  reader.at += 1
}

function readString(reader) {
  const { text, at: start } = reader
  let at = start + 1
  while (text[at] !== '"') {
    if (at >= text.length) throw new TextFault(start, 'the quotes that open here are never closed')
    if (text[at] < ' ') {
      throw new TextFault(at, 'a line break or tab within quotes; close the quotes, or write it as \\n or \\t')
    }
    if (text[at] === '\\') {
      ESCAPE.lastIndex = at
      if (!ESCAPE.test(text)) throw new TextFault(at, 'a backslash stands alone; write two for one')
      at = ESCAPE.lastIndex
    } else at += 1
  }
  reader.at = at + 1
}

function scalarLength(text, start) {
  const word = WORDS.find((one) => text.startsWith(one, start))
  if (word !== undefined) return word.length
  NUMBER.lastIndex = start
  return NUMBER.test(text) ? NUMBER.lastIndex - start : 0
}

function skipSpace(reader) {
  SPACE.lastIndex = reader.at
  SPACE.test(reader.text)
  reader.at = SPACE.lastIndex
}

function refuse({ text, at }, expected) {
  throw new TextFault(at, `expected ${expected}, found ${describe(text, at)}`)
}

function describe(text, at) {
  const code = text.codePointAt(at)
  if (code === undefined) return 'the end of the text'
  const character = String.fromCodePoint(code)
  if (character === "'") return `${character} (JSON takes double quotes only)`
  if (character === '/' || character === '#') return `${character} (JSON has no comments)`
  if (/[\p{L}\p{N}\p{P}\p{S}]/u.test(character)) return character
  return `the character U+${code.toString(16).toUpperCase().padStart(4, '0')}`
}
