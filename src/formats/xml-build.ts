/**
 * Values as XML, the reverse of xml-read.ts. Our own code: no value may break out of its element, which a page of code
 * shows better than a library.
 */
import { isObject, type Json, type JsonObject } from '../core/json.ts'
import { documentPath } from '../core/lint.ts'
import { TooLong, Unwritable } from './body-faults.ts'
import { escapeAttribute, escapeText, forbiddenIn, isXmlName, withoutForbidden } from './xml-characters.ts'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const STEP = '  '

/** The element around a value without a single name, and the element of an item of an array without a name. */
const ROOT_NAME = 'root'
const ITEM_NAME = 'item'

/** Far less than exhausts the stack. */
const MAX_BUILD_DEPTH = 1_000

/** In characters. A long name of a long array would make gigabytes of a message of one megabyte. */
const MAX_BUILT_LENGTH = 64 * 1024 * 1024

type Scalar = Exclude<Json, JsonObject | readonly Json[]>

/** `path` leads to the value being written. */
type Writer = { xml: string; readonly path: (string | number)[]; readonly limit: number }

/**
 * Writes a value as an XML document, indented by two spaces where that adds no text to an element that has some.
 *
 * A single top-level name is the root; anything else is put under `<root>`: several names, none, an array, a scalar.
 * `$` holds attributes, `_` the text. An array repeats its element; an array within an array, or at the top, becomes
 * one element with `<item>` children. null, "" and {} are empty elements; numbers that are not finite too.
 * Throws Unwritable for names that aren't XML names, characters that XML 1.0 cannot hold (§2.2), a `$` or `_` of the
 * wrong type, and values beyond MAX_BUILD_DEPTH; TooLong beyond `limitLength` or MAX_BUILT_LENGTH.
 */
export function buildXml(value: Json, limitLength = MAX_BUILT_LENGTH): string {
  const writer: Writer = { xml: DECLARATION, path: [], limit: Math.min(limitLength, MAX_BUILT_LENGTH) }
  const name = rootName(value)
  if (name === undefined) writeElement(writer, ROOT_NAME, value, '\n')
  else writeMember(writer, name, (value as JsonObject)[name], '\n')
  return writer.xml
}

/** The single top-level name, if it gives exactly one element. */
function rootName(value: Json): string | undefined {
  if (!isObject(value)) return undefined
  const [name, ...others] = Object.keys(value)
  if (name === undefined || others.length > 0 || name === '$' || name === '_') return undefined
  return value[name] === undefined || isArray(value[name]) ? undefined : name
}

function writeMember(writer: Writer, name: string, value: Json | undefined, indent: string): void {
  if (value === undefined) return
  writer.path.push(name)
  if (!isXmlName(name)) fail(writer, `"${shown(name)}" cannot be the name of an XML element; rename it`)
  if (isArray(value)) writeItems(writer, name, value, indent)
  else writeElement(writer, name, value, indent)
  writer.path.pop()
}

function writeItems(writer: Writer, name: string, items: readonly Json[], indent: string): void {
  items.forEach((item, index) => {
    writer.path.push(index)
    writeElement(writer, name, item, indent)
    writer.path.pop()
  })
}

/** `indent`: the line break and spaces before the element; empty within text, which both would change. */
function writeElement(writer: Writer, name: string, value: Json, indent: string): void {
  if (writer.path.length > MAX_BUILD_DEPTH) fail(writer, `the value is nested deeper than ${MAX_BUILD_DEPTH} levels`)
  if (writer.xml.length > writer.limit) {
    throw new TooLong('XML', shown(documentPath('', ...writer.path)), writer.xml.length, writer.limit)
  }
  const start = `${writer.xml}${indent}<${name}${isObject(value) ? attributesText(writer, value.$) : ''}`
  writer.xml = `${start}>`
  const endIndent = writeContent(writer, value, indent)
  const isEmpty = writer.xml.length === start.length + 1
  writer.xml = isEmpty ? `${start}/>` : `${writer.xml}${endIndent}</${name}>`
}

/** Writes the content between the tags. Out: the indentation of the end tag. */
function writeContent(writer: Writer, value: Json, indent: string): string {
  if (isArray(value)) {
    writeItems(writer, ITEM_NAME, value, indent === '' ? '' : indent + STEP)
    return indent
  }
  if (!isObject(value)) {
    writer.xml += written(writer, value, escapeText)
    return ''
  }
  const text = elementText(writer, value._)
  const childIndent = indent === '' || text !== '' ? '' : indent + STEP
  for (const name of Object.keys(value)) {
    if (name === '_') writer.xml += text
    else if (name !== '$') writeMember(writer, name, value[name], childIndent)
  }
  return childIndent === '' ? '' : indent
}

function elementText(writer: Writer, value: Json | undefined): string {
  if (value === undefined) return ''
  writer.path.push('_')
  if (typeof value === 'object' && value !== null) fail(writer, 'the text of an element must not be an object or array')
  const text = written(writer, value, escapeText)
  writer.path.pop()
  return text
}

function attributesText(writer: Writer, attributes: Json | undefined): string {
  if (attributes === undefined || attributes === null) return ''
  writer.path.push('$')
  if (!isObject(attributes)) return fail(writer, '`$` must be an object, with one member for each attribute')
  let text = ''
  for (const name of Object.keys(attributes)) {
    const value = attributes[name]
    if (value === undefined) continue
    writer.path.push(name)
    if (!isXmlName(name)) fail(writer, `"${shown(name)}" cannot be the name of an XML attribute; rename it`)
    if (typeof value === 'object' && value !== null) fail(writer, 'an attribute must not be an object or array')
    text += ` ${name}="${written(writer, value, escapeAttribute)}"`
    writer.path.pop()
  }
  writer.path.pop()
  return text
}

function written(writer: Writer, value: Scalar, escaped: typeof escapeText): string {
  const text = scalarText(value)
  return escaped(text) ?? refuseCharacter(writer, text)
}

function scalarText(value: Scalar): string {
  if (value === null) return ''
  return typeof value === 'number' && !Number.isFinite(value) ? '' : String(value)
}

const isArray = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

function fail(writer: Writer, problem: string): never {
  throw new Unwritable('XML', shown(documentPath('', ...writer.path)), problem)
}

function refuseCharacter(writer: Writer, text: string): never {
  const code = forbiddenIn(text)?.toString(16).toUpperCase().padStart(4, '0')
  return fail(writer, `the value holds the character U+${code}, which XML cannot hold; remove or replace it`)
}

/** Text of the message in an error: bounded, and of characters that any format can hold. */
function shown(text: string): string {
  return withoutForbidden(text.length > 80 ? `${text.slice(0, 80)}…` : text)
}
