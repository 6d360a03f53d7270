/**
 * XML as the values that documents address: attributes under `$`, text beside them under `_`, repeated children as arrays.
 * Saxes checks well-formedness. A DOCTYPE is refused, so that no entity can be declared that grows while it is read.
 */
import { SaxesParser } from 'saxes'
import type { Json } from '../core/json.ts'
import { Unreadable } from './body-faults.ts'
import { MAX_DEPTH } from './json-read.ts'
import { type NameLimits, tooManyNames } from './name-limits.ts'
import { decodeText } from './text.ts'
import { isXmlName } from './xml-characters.ts'

/** `trim`: drops space around text. `explicitRoot`: keeps the name of the root. `explicitArray`: puts every child in an array. */
export type XmlOptions = NameLimits & Readonly<{ trim: boolean; explicitRoot: boolean; explicitArray: boolean }>

/** `$` and the children of an element. */
type Content = Record<string, Json>

/** `names`: how many different names its children have. */
type OpenElement = { text: string; hasCdata: boolean; content: Content | undefined; names: number }

/**
 * Parses bytes of XML. Their encoding: that of a byte order mark, else the charset of the media type, else that of the XML
 * declaration, else UTF-8. RFC 7303 §3, XML 1.0 §4.3.3 and appendix F.
 *
 * Throws Unreadable as `parseXml` and `decodeText` do, and for a declaration that the bytes contradict.
 */
export function readXml(bytes: Uint8Array, charset: string | undefined, options: XmlOptions): Json {
  const text = decodeText(bytes, encodingByMark(bytes) ?? charset ?? encodingByDeclaration(bytes))
  // Saxes would accept it as the mark that decodeText dropped.
  if (text.startsWith('\ufeff')) {
    throw new Unreadable('malformed', 'The XML is not well-formed: a second byte order mark at line 1, column 1.')
  }
  return parseXml(text, options)
}

function encodingByMark(bytes: Uint8Array): string | undefined {
  const [first, second, third] = bytes
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return undefined
}

const DECLARED_ENCODING = /^<\?xml\s[^<>]*?\sencoding\s*=\s*["']([\w.-]+)["']/

function encodingByDeclaration(bytes: Uint8Array): string | undefined {
  if (bytes[0] === 0 || bytes[1] === 0) return 'utf-16'
  const declared = DECLARED_ENCODING.exec(Buffer.from(bytes.subarray(0, 200)).toString('latin1'))?.[1]?.toLowerCase()
  if (declared !== undefined && /^(utf-16|ucs-2|iso-10646-ucs-2|utf-32)/.test(declared)) {
    throw new Unreadable(
      'malformed',
      `The XML declares the encoding ${declared}, but is not encoded in it; correct the declaration, or name the charset in Content-Type.`,
      'The XML declares an encoding that it is not encoded in.',
    )
  }
  return declared
}

/**
 * Parses an XML 1.0 document. Everything is a string; an element with neither text, attributes nor children is "".
 *
 * Names keep their prefixes and may be any, `__proto__` included: they become plain own properties. They have one colon at
 * most, as in output (Namespaces in XML 1.0 §4); whether a prefix is declared is not checked.
 * Throws Unreadable: `malformed` for a text that is not well-formed or has a DOCTYPE, `too-deep` for more than MAX_DEPTH
 * nested elements, `too-many` for more names than the options allow; each with line and column.
 */
export function parseXml(text: string, options: XmlOptions): Json {
  // Saxes takes any character after half a surrogate pair for the other half, a `<` too.
  if (!text.isWellFormed()) throw new Unreadable('malformed', 'The XML holds half of a surrogate pair.')
  const parser = new SaxesParser({ xmlns: false, position: false, defaultXMLVersion: '1.0', forceXMLVersion: true })
  const refuse = (reason: Unreadable['reason'], what: string): never => {
    throw new Unreadable(reason, `${what} at line ${parser.line}, column ${Math.max(1, parser.column)}.`)
  }
  const { parserMaxNames: max = Infinity, parserMaxNamesPerObject: maxPerObject = Infinity } = options
  const refuseNames = (what: string, limit: number, setting: string): never => {
    throw tooManyNames(what, limit, setting, ` at line ${parser.line}`)
  }
  const open: OpenElement[] = []
  let root: Json = ''
  let names = 0
  let attributeCount = 0
  const countName = () => {
    names += 1
    if (names > max) refuseNames('The XML has more elements and attributes', max, 'PARSER_MAX_NAMES')
  }

  parser.on('error', (error) => refuse('malformed', describe(error.message, text)))
  parser.on('doctype', () => refuse('malformed', 'A DOCTYPE is not accepted, and this XML has one that ends'))
  const checkName = (name: string) => {
    if (!name.includes(':') || isXmlName(name)) return
    refuse('malformed', 'The XML is not well-formed: a name has a colon that is not between a prefix and a local name,')
  }
  parser.on('opentag', ({ name, attributes }) => {
    checkName(name)
    if (open.length === MAX_DEPTH) refuse('too-deep', `The XML is nested deeper than ${MAX_DEPTH} levels`)
    countName()
    attributeCount = 0
    open.push({ text: '', hasCdata: false, content: attributesContent(attributes), names: 0 })
  })
  // Before saxes compares them with each other.
  parser.on('attribute', ({ name }) => {
    checkName(name)
    countName()
    attributeCount += 1
    if (attributeCount <= maxPerObject) return
    refuseNames('An element of the XML has more attributes', maxPerObject, 'PARSER_MAX_NAMES_PER_OBJECT')
  })
  parser.on('text', (part) => {
    const element = open.at(-1)
    if (element !== undefined) element.text += part
  })
  parser.on('cdata', (part) => {
    const element = open.at(-1)
    if (element === undefined) return
    element.text += part
    element.hasCdata = true
  })
  parser.on('closetag', ({ name }) => {
    const element = open.pop()
    if (element === undefined) return
    const value = readElementValue(element, options.trim)
    const parent = open.at(-1)
    if (parent === undefined) root = options.explicitRoot ? define({}, name, value) : value
    else {
      parent.content ??= {}
      if (addChild(parent.content, name, value, options.explicitArray)) parent.names += 1
      if (parent.names > maxPerObject) {
        refuseNames('An element of the XML has more names of children', maxPerObject, 'PARSER_MAX_NAMES_PER_OBJECT')
      }
    }
  })
  parser.write(text).close()
  return root
}

function attributesContent(attributes: Readonly<Record<string, string>>): Content | undefined {
  const names = Object.keys(attributes)
  if (names.length === 0) return undefined
  const own: Content = {}
  for (const name of names) define(own, name, attributes[name] ?? '')
  return { $: own }
}

/** Out: whether it is the first child of this name. */
function addChild(content: Content, name: string, value: Json, explicitArray: boolean): boolean {
  const present = Object.hasOwn(content, name) ? content[name] : undefined
  if (present === undefined) define(content, name, explicitArray ? [value] : value)
  else if (Array.isArray(present)) present.push(value)
  else define(content, name, [present, value])
  return present === undefined
}

/** Sets an own property of any name: an assignment to `__proto__` would set the prototype. */
function define(target: Content, name: string, value: Json): Content {
  if (name !== '__proto__') target[name] = value
  else Object.defineProperty(target, name, { value, writable: true, enumerable: true, configurable: true })
  return target
}

/**
 * White space between elements isn't text, except as CDATA that is not trimmed. An element that is itself called `_`
 * shares that name with the text, as though both were repeated children.
 */
function readElementValue({ text, hasCdata, content }: OpenElement, trim: boolean): Json {
  const kept = trim ? text.trim() : text
  if (content === undefined) return kept
  if (hasCdata ? kept === '' : kept.trim() === '') return content
  return { _: kept, ...content, ...(Object.hasOwn(content, '_') && { _: [kept, content._ ?? ''].flat() }) }
}

/** The fault that saxes found, without the names that it adds: they come from the sender and have any length. */
function describe(message: string, text: string): string {
  const [what = ''] = message.replace(/\.$/, '').split(': ')
  const bareAmpersand = what === 'unclosed tag' && /&(?!#?\w+;)/.test(text)
  return `The XML is not well-formed: ${what}${bareAmpersand ? ' (or a `&` that is not written as `&amp;`)' : ''}`
}
